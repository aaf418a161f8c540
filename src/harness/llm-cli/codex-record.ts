import { glob } from "node:fs/promises";
import { join } from "node:path";
import { fieldsOf, numberOf, textOf, totalOf } from "./fields.ts";
import { jsonLines } from "./json-files.ts";
import type { CliRecord } from "./llm-cli.ts";

/**
 * What Codex 0.169 wrote of its sessions into `CODEX_HOME/sessions`: a `token_usage_record` after each answer, with
 * the total of its thread. Its stream has tokens only at the end of a turn that succeeded.
 */
export async function codexRecord(home: string): Promise<CliRecord> {
  const threads = new Map<string, number>();
  for await (const path of glob(join(home, "sessions", "**", "*.jsonl"))) {
    for await (const { type, payload } of jsonLines(path)) {
      if (type !== "token_usage_record") continue;
      const { thread_id, thread_token_usage } = fieldsOf(payload);
      const total = numberOf(fieldsOf(thread_token_usage).total_tokens);
      if (total !== null) threads.set(textOf(thread_id), total);
    }
  }
  return { tokens: totalOf(threads.values()), problem: null };
}
