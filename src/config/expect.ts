import { createHash } from "node:crypto";
import { z } from "zod";
import type { Expectation, ExpectedSchema } from "../../streams/alerts/alert-options.ts";
import { agentKey, fact } from "./config-key.ts";
import type { AgentContext } from "./config-key.ts";
import { describeValues, differingKeys } from "./differences.ts";
import { flag, pattern, table } from "./fields.ts";

const expectSchema = table({
  returned: flag().default(false).describe("Whether a run must return something."),
  said: flag().default(false).describe("Whether the model must end a run with words."),
  schema: pattern(/^[A-Za-z0-9_][\w.-]*\.json$/, 'a file in its directory, e.g. "out.schema.json"')
    .optional()
    .describe(
      'A JSON Schema (draft 2020-12 or 7) that what a run returns must meet, as JSON text. Words such as "format" that a check does not know have no effect.',
    ),
});

/** An agent's `[expect]`. */
export const expectKey = agentKey({
  inFile: "expect",
  field: expectSchema
    .optional()
    .describe(
      "What a run must leave to have succeeded. One that ends without it has failed, whatever its own outcome; a run that asks to be run again is not checked.",
    ),
  resolve: (given, context): Expectation | null => {
    if (given === undefined) return null;
    const { returned, said, schema } = given;
    return { returned, said, schema: schema === undefined ? null : readSchema(schema, context) };
  },
  written: writtenExpectation,
  value: z
    .object({
      returned: z.boolean(),
      said: z.boolean(),
      schema: z.object({ file: z.string(), text: z.string() }).nullable(),
    })
    .nullable(),
  canonical: (expected) =>
    expected && { ...expected, schema: expected.schema && canonicalSchema(expected.schema) },
  change: describeExpectations,
  facts: (expected) => fact("Expects", expectationText(expected)),
});

/** Reports a file that can't be read. */
function readSchema(file: string, { schemas, diagnostics }: AgentContext): ExpectedSchema | null {
  const read = schemas.get(file) ?? { type: "missing" };
  if (read.type === "text") return { file, text: read.text };
  const reason = read.type === "missing" ? "is missing; put the schema there" : read.reason;
  diagnostics.error(["expect", "schema"], `expect.schema: ${file} ${reason}`);
  return null;
}

function canonicalSchema({ file, text }: ExpectedSchema): string {
  return `${file} ${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}

function writtenExpectation(expected: Expectation | null): object | null {
  return expected && { ...expected, schema: expected.schema?.file ?? null };
}

function describeExpectations(before: Expectation | null, after: Expectation | null): string {
  const [old, now] = [writtenExpectation(before) ?? {}, writtenExpectation(after) ?? {}];
  const [was, is] = [new Map(Object.entries(old)), new Map(Object.entries(now))];
  const keys = differingKeys(old, now);
  // The same file with another content.
  if (keys.length === 0) return "expect.schema changed";
  return keys
    .map((key) => describeValues(`expect.${key}`, was.get(key) ?? null, is.get(key) ?? null))
    .join(", ");
}

function expectationText(expected: Expectation | null): string | null {
  if (expected === null) return null;
  const { returned, said, schema } = expected;
  const texts = [
    ...(returned ? ["a result"] : []),
    ...(said ? ["a last answer in words"] : []),
    ...(schema === null ? [] : [`a result that meets ${schema.file}`]),
  ];
  return texts.length === 0 ? null : texts.join(", ");
}
