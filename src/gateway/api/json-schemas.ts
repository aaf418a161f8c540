import { z } from "zod";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Turns a zod schema into JSON Schema: of what is sent to us, before defaults and conversions, or of what we send. */
export type ToJsonSchema = (schema: z.ZodType, io: "input" | "output") => JsonSchema;

/** The converter of one document. Schemas with an id are written once, into `components`. */
export function toJsonSchemaWith(components: Record<string, JsonSchema>): ToJsonSchema {
  return (schema, io) => {
    // Inside another schema one with an id becomes a reference; at the top it would not.
    const whole = z.toJSONSchema(z.object({ it: schema }), { io, override: simplify });
    const text = JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/');
    const { properties, $defs } = JSON.parse(text) as Converted;
    Object.assign(components, $defs);
    return properties?.it ?? {};
  };
}

interface Converted {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

/** Removes what tells a reader nothing. `additionalProperties` goes because an answer may gain fields. */
function simplify({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  delete jsonSchema.additionalProperties;
  delete jsonSchema.readOnly;
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
