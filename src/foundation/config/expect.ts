import { z } from "zod";
import type { Expectation } from "../../../streams/agent-config.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";
import type { AgentFiles } from "./agent-files.ts";
import { agentKey, fact } from "./config-key.ts";
import type { Diagnostics } from "./validate.ts";
import { describeKeys } from "./format-value.ts";
import { flag, table } from "./fields.ts";
import { canonicalSchema, checkSchemaFile, readSchema, schemaFile } from "./schema-file.ts";

const expectSchema = table({
  returned: flag().default(false).describe("Whether a run must return a value other than null."),
  said: flag()
    .default(false)
    .describe("Whether the model's last answer must contain text, not only a tool call."),
  schema: schemaFile()
    .optional()
    .describe(
      "A JSON Schema that the returned value must match (draft 2020-12, or draft-07 if `$schema` names it). The keyword `format` has no effect. References to other files are errors.",
    ),
});

/** An agent's `[expect]`. */
export const expectKey = agentKey({
  inFile: "expect",
  field: expectSchema
    .optional()
    .describe(
      "Conditions for a successful run, checked when the run ends. If one is not met, the run counts as failed with exit code 1.",
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

interface CheckedTable {
  readonly expect?: { readonly schema?: string | undefined } | undefined;
}

/** Reports a schema that can't be used: the problem has its place in that file. */
export function checkExpect(
  { expect }: CheckedTable,
  files: AgentFiles,
  diagnostics: Diagnostics,
): readonly Diagnostic[] {
  const file = expect?.schema;
  return file === undefined ? [] : checkSchemaFile(["expect", "schema"], file, files, diagnostics);
}

function writtenExpectation(expected: Expectation | null): object | null {
  return expected && { ...expected, schema: expected.schema?.file ?? null };
}

function describeExpectations(before: Expectation | null, after: Expectation | null): string {
  const text = describeKeys("expect", writtenExpectation(before), writtenExpectation(after));
  // The same file with new content.
  return text === "" ? "expect.schema changed" : text;
}

function expectationText(expected: Expectation | null): string | null {
  if (expected === null) return null;
  const { returned, said, schema } = expected;
  const texts = [
    ...(returned ? ["a result"] : []),
    ...(said ? ["a last answer in words"] : []),
    ...(schema === null ? [] : [`a result that matches ${schema.file}`]),
  ];
  return texts.length === 0 ? null : texts.join(", ");
}
