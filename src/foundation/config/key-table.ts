import { z } from "zod";
import type { CanonicalContext, FileKey } from "./config-key.ts";
import { table } from "./fields.ts";

/** The keys of a table that a file has. */
type InFile<Keys> = {
  [Key in keyof Keys as Keys[Key] extends { inFile: string } ? Key : never]: Keys[Key];
};
type Shape<Keys> = {
  [
    Key in keyof Keys as Keys[Key] extends { inFile: infer Name extends string } ? Name : never
  ]: Keys[Key] extends { field: infer Field extends z.ZodType } ? Field : never;
};
type ValueOf<Key> = Key extends { value: z.ZodType<infer Value> } ? Value : never;
/** Input for resolving the keys of a table. */
type ContextOf<Keys> = {
  [Key in keyof InFile<Keys>]: Keys[Key & keyof Keys] extends {
    resolve(given: never, context: infer Context): unknown;
  }
    ? Context
    : never;
}[keyof InFile<Keys>];
type Resolved<Keys> = { [Key in keyof InFile<Keys>]: ValueOf<Keys[Key & keyof Keys]> };

type AnyFileKey = FileKey<string, z.ZodType, unknown, unknown>;

/** Cached per table, because every agent's config is resolved by them. */
const known = new WeakMap<object, readonly (readonly [string, AnyFileKey])[]>();

function fileKeys(keys: object): readonly (readonly [string, AnyFileKey])[] {
  const inFile =
    known.get(keys) ??
    Object.entries(keys).filter(([, key]) => Object.hasOwn(key as object, "inFile"));
  known.set(keys, inFile);
  return inFile;
}

/** The schema of a file's table, made from the keys that the file has. */
export function fileSchema<Keys extends object>(keys: Keys) {
  const fields = fileKeys(keys).map(([, { inFile, field }]) => [inFile, field] as const);
  // The types of fromEntries don't keep which key has which field.
  return table(Object.fromEntries(fields) as unknown as Shape<Keys>);
}

/** The resolved values, from the file's values; each key resolves its own. */
export function resolveKeys<Keys extends object>(
  keys: Keys,
  given: object,
  context: ContextOf<Keys>,
): Resolved<Keys> {
  const held = new Map<string, unknown>(Object.entries(given));
  const values = fileKeys(keys).map(
    ([name, key]) => [name, key.resolve(held.get(key.inFile), context)] as const,
  );
  return Object.fromEntries(values) as Resolved<Keys>;
}

interface CanonicalKey {
  readonly inFile?: string;
  canonical?(value: unknown, context: CanonicalContext): unknown;
  written?(value: unknown, projectDir: string): unknown;
}

/** A table as stored with a run's version, under the file's names if the key is in the file. */
export function canonicalKeys(keys: object, config: object, context: CanonicalContext): object {
  const values = new Map<string, unknown>(Object.entries(config));
  const entries = Object.entries(keys).map(([name, key]: [string, CanonicalKey]) => {
    const value = values.get(name);
    return [key.inFile ?? name, canonicalValue(key, value, context)] as const;
  });
  return Object.fromEntries(entries);
}

function canonicalValue(key: CanonicalKey, value: unknown, context: CanonicalContext): unknown {
  if (key.canonical) return key.canonical(value, context);
  return key.written ? key.written(value, context.projectDir) : value;
}

/** A table as a file would hold it; unset keys are null. */
export function writtenKeys(keys: object, config: object, projectDir: string): object {
  const values = new Map<string, unknown>(Object.entries(config));
  const written = fileKeys(keys).map(([name, key]) => {
    const value = values.get(name);
    return [key.inFile, key.written ? key.written(value, projectDir) : value] as const;
  });
  return Object.fromEntries(written);
}

/** The schema of a resolved config. */
export function valueSchema<Config>(keys: {
  readonly [Key in keyof Config]: { readonly value: z.ZodType<Config[Key], Config[Key]> };
}): z.ZodType<Config, Config> {
  const entries = Object.entries<{ readonly value: z.ZodType }>(keys);
  const shape = Object.fromEntries(entries.map(([name, { value }]) => [name, value]));
  // The parameter's type requires a schema of each key.
  return z.object(shape) as unknown as z.ZodType<Config, Config>;
}
