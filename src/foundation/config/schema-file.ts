import { createHash } from "node:crypto";
import type { ExpectedSchema } from "../../../streams/agent-config.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";
import { schemaFileName } from "../contracts/credential-reference.ts";
import type { AgentFiles } from "./agent-files.ts";
import type { AgentContext } from "./config-key.ts";
import { pattern } from "./fields.ts";
import { formatPath } from "./format-value.ts";
import type { TomlPath } from "./toml-locator.ts";
import type { Diagnostics } from "./validate.ts";

/** The path of a JSON Schema in the agent's directory. */
export function schemaFile() {
  const expected = 'a JSON file in its directory, e.g. "out.schema.json"';
  return pattern(new RegExp(`^${schemaFileName}$`), expected);
}

/** Null for a file that can't be used: `checkSchemaFile` reports it. */
export function readSchema(file: string, { schemas }: AgentContext): ExpectedSchema | null {
  const read = schemas.get(file);
  return read?.type === "text" ? { file, text: read.text } : null;
}

/** Reports a schema that can't be used: the problem has its place in that file. */
export function checkSchemaFile(
  key: TomlPath,
  file: string,
  { name, schemas }: AgentFiles,
  diagnostics: Diagnostics,
): readonly Diagnostic[] {
  const read = schemas.get(file) ?? { type: "missing" };
  if (read.type === "text") return [];
  if (read.type === "invalid") {
    const { line, column, message } = read.problem;
    const problem = { severity: "error", file: `agents/${name}/${file}`, line, column } as const;
    return [{ ...problem, message: `not a JSON Schema: ${message}` }];
  }
  const reason = read.type === "missing" ? missing : read.reason;
  diagnostics.error(key, `${formatPath(key)}: ${file} ${reason}`);
  return [];
}

const missing = "is missing in the agent's directory; put a JSON Schema there";

/** The schema in the version of a run: changes with its content. */
export function canonicalSchema({ file, text }: ExpectedSchema): string {
  return `${file} ${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}
