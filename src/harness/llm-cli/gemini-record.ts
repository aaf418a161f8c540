import { glob } from "node:fs/promises";
import { join } from "node:path";
import { answerProblems } from "./answers.ts";
import { fieldsOf, numberOf, textOf, totalOf } from "./fields.ts";
import { indentedObjects, jsonLines } from "./json-files.ts";
import type { CliRecord } from "./llm-cli.ts";

/**
 * What Gemini CLI 0.61 wrote of a session beside its stream, which has tokens only at its end, and nothing of why an
 * answer ended: its chats, each answer as it came, and its telemetry, which a program that is killed doesn't finish.
 */
export async function geminiRecord(home: string, telemetry: string): Promise<CliRecord> {
  const tokens = await tokensOf(join(home, ".gemini", "tmp", "*", "chats", "**", "*.jsonl"));
  return { tokens, problem: problems[await lastFinish(telemetry)] ?? null };
}

/** An answer is written again with its tool calls, under the same id. */
async function tokensOf(pattern: string): Promise<number | null> {
  const answers = new Map<string, number>();
  for await (const path of glob(pattern)) {
    for await (const { id, tokens } of jsonLines(path)) {
      const total = numberOf(fieldsOf(tokens).total);
      if (total !== null) answers.set(textOf(id), total);
    }
  }
  return totalOf(answers.values());
}

/** By `finish_reasons` of the event `gemini_cli.api_response`, see "Observability with OpenTelemetry" of its manual. */
const problems: Partial<Record<string, string>> = {
  length: answerProblems.cut,
  content_filter: answerProblems.filtered,
};

/** Why the last answer of the session itself ended; empty when that is unknown. */
async function lastFinish(telemetry: string): Promise<string> {
  let last = "";
  // As a pattern, so that a file that is not there is none.
  for await (const path of glob(telemetry)) {
    for await (const { attributes } of indentedObjects(path)) {
      const { "event.name": name, role, finish_reasons: reasons } = fieldsOf(attributes);
      if (name !== "gemini_cli.api_response" || role !== "main") continue;
      last = Array.isArray(reasons) ? textOf(reasons.at(-1)) : "";
    }
  }
  return last;
}
