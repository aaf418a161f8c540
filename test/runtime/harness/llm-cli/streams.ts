import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The lines that a CLI printed in a real session against an endpoint on the same machine. */
function recorded(program: string): readonly object[] {
  const text = readFileSync(join(import.meta.dirname, `${program}.jsonl`), "utf8");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as object]));
}

export const claudeStream = recorded("claude");
export const codexStream = recorded("codex");
export const geminiStream = recorded("gemini");

/** `subtype` is "success" here too. */
export function claudeFailure(text: string) {
  return {
    type: "result",
    subtype: "success",
    is_error: true,
    api_error_status: 429,
    num_turns: 1,
    result: text,
    total_cost_usd: 0,
    usage: { input_tokens: 0, output_tokens: 0 },
  };
}

export function codexFailure(message: string) {
  return [
    { type: "thread.started", thread_id: "01a1" },
    { type: "turn.started" },
    { type: "error", message },
    { type: "turn.failed", error: { message } },
  ];
}

/** A 429 of the real one: no JSON, and advice behind it. */
export const geminiFailure = {
  type: "result",
  status: "error",
  error: {
    type: "unknown",
    message: "[API Error: quota exceeded]\nPlease wait and try again later.",
  },
  stats: { total_tokens: 0 },
};
