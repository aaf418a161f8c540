import { z } from "zod";

/** The schema without its wrappers for keys that may be left out. */
export function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return isWrapper(schema) ? unwrapped(schema.unwrap()) : schema;
}

function isWrapper(
  schema: z.core.$ZodType,
): schema is z.ZodOptional | z.ZodDefault | z.ZodPrefault {
  return (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  );
}

/** Every error message of the schemas describes the expected value: it explains a field as well as it corrects one. */
export function expectation(schema: z.core.$ZodType): string | null {
  const { error } = unwrapped(schema)._zod.def;
  if (error === undefined) return null;
  const message = (error as (issue: object) => unknown)({});
  return typeof message === "string" ? message : null;
}

/** What a key is for; null for one without a description. */
export function meaning(schema: z.core.$ZodType): string | null {
  return z.globalRegistry.get(schema)?.description ?? null;
}

/** The value of a key that is left out, as TOML writes it; null when there is none. */
export function defaultOf(schema: z.core.$ZodType): string | null {
  if (schema instanceof z.ZodOptional) return defaultOf(schema.unwrap());
  if (!(schema instanceof z.ZodDefault)) return null;
  return JSON.stringify(schema.def.defaultValue);
}

/** Whether the key may be left out. */
export function isOptional(schema: z.core.$ZodType): boolean {
  return isWrapper(schema);
}
