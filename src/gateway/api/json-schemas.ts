import { z } from "zod";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Turns zod's schemas into JSON Schema, those with an id once for all, under `components`. */
export interface JsonSchemas {
  /** What is sent to us, as it is before defaults and conversions. */
  input(schema: z.ZodType): JsonSchema;
  /** What we send. */
  output(schema: z.ZodType): JsonSchema;
  components(): Readonly<Record<string, JsonSchema>>;
}

/** Converters of one document. */
export function createJsonSchemas(): JsonSchemas {
  const components: Record<string, JsonSchema> = {};
  const convert = (schema: z.ZodType, io: "input" | "output"): JsonSchema => {
    // Inside another schema one with an id becomes a reference; at the top it would not.
    const whole = z.toJSONSchema(z.object({ it: schema }), { io, override: simplify });
    const { properties, $defs } = inComponents(whole);
    Object.assign(components, $defs);
    return properties?.it ?? {};
  };
  return {
    input: (schema) => convert(schema, "input"),
    output: (schema) => convert(schema, "output"),
    components: () => components,
  };
}

interface Converted {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

function inComponents(schema: unknown): Converted {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/');
  return JSON.parse(text) as Converted;
}

/** Leaves out what says nothing to a reader; an answer may gain fields, so none is the last. */
function simplify({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  delete jsonSchema.additionalProperties;
  delete jsonSchema.readOnly;
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
