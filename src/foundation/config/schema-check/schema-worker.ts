import { parentPort } from "node:worker_threads";
import { messageOf } from "../../errors.ts";
import { compileSchema, mismatch } from "./compile-schema.ts";
import type { SchemaAnswer, SchemaRequest } from "./schema-request.ts";

/** Schemas that were used last, by their text. */
const compiled = new Map<string, ReturnType<typeof compileSchema>>();
const maxCompiled = 50;

function schemaOf(text: string): ReturnType<typeof compileSchema> {
  const schema = compiled.get(text) ?? compileSchema(text);
  compiled.delete(text);
  compiled.set(text, schema);
  for (const oldest of compiled.keys()) {
    if (compiled.size <= maxCompiled) break;
    compiled.delete(oldest);
  }
  return schema;
}

function answerTo({ schema: text, value }: SchemaRequest): SchemaAnswer {
  const schema = schemaOf(text);
  const problem = schema.type === "invalid" ? schema.problem : null;
  if (value === null) return { type: "schema", problem };
  if (schema.type === "invalid") return { type: "value", reason: schema.problem.message };
  try {
    return { type: "value", reason: mismatch(schema.validate, JSON.parse(value)) };
  } catch (error) {
    // A schema that refers to itself without end, or a value that is nested too deeply.
    return { type: "value", reason: `it can't be checked: ${messageOf(error)}` };
  }
}

parentPort?.on("message", (request: SchemaRequest) => {
  parentPort?.postMessage(answerTo(request));
});
parentPort?.postMessage({ type: "ready" } satisfies SchemaAnswer);
