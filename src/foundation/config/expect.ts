import { createHash } from "node:crypto";
import { z } from "zod";
import type { Expectation, ExpectedSchema } from "../../../streams/agent-config.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";
import { schemaFileName } from "../contracts/credential-reference.ts";
import type { AgentFiles } from "./agent-files.ts";
import { agentKey, fact, type AgentContext } from "./config-key.ts";
import type { Diagnostics } from "./validate.ts";
import { describeKeys } from "./format-value.ts";
import { flag, pattern, table } from "./fields.ts";

const schemaError = 'a JSON file in its directory, e.g. "out.schema.json"';

const expectSchema = table({
  returned: flag().default(false).describe("Whether a run must return a value other than null."),
  said: flag()
    .default(false)
    .describe("Whether the model's last answer must contain text, not only a tool call."),
  schema: pattern(new RegExp(`^${schemaFileName}$`), schemaError)
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

/** Null for a file that can't be used: `checkExpect` reports it. */
function readSchema(file: string, { schemas }: AgentContext): ExpectedSchema | null {
  const read = schemas.get(file);
  return read?.type === "text" ? { file, text: read.text } : null;
}

interface CheckedTable {
  readonly expect?: { readonly schema?: string | undefined } | undefined;
}

/** Reports a schema that can't be used: the problem has its place in that file. */
export function checkExpect(
  { expect }: CheckedTable,
  { name, schemas }: AgentFiles,
  diagnostics: Diagnostics,
): readonly Diagnostic[] {
  const file = expect?.schema;
  const read = file === undefined ? null : (schemas.get(file) ?? { type: "missing" });
  if (file === undefined || read === null || read.type === "text") return [];
  if (read.type === "invalid") {
    const { line, column, message } = read.problem;
    const problem = { severity: "error", file: `agents/${name}/${file}`, line, column } as const;
    return [{ ...problem, message: `not a JSON Schema: ${message}` }];
  }
  const reason = read.type === "missing" ? missing : read.reason;
  diagnostics.error(["expect", "schema"], `expect.schema: ${file} ${reason}`);
  return [];
}

const missing = "is missing in the agent's directory; put a JSON Schema there";

function canonicalSchema({ file, text }: ExpectedSchema): string {
  return `${file} ${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
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
