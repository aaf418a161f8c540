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
export function claudeFailure(status: number, text: string) {
  return {
    type: "result",
    subtype: "success",
    is_error: true,
    api_error_status: status,
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

const geminiError = (message: string) => ({
  type: "result",
  status: "error",
  error: { type: "unknown", message },
  stats: { total_tokens: 0 },
});

export function geminiFailure(status: number, message: string) {
  const body = JSON.stringify({ error: { code: status, message, status: "X" } });
  return geminiError(`[API Error: ${body}]`);
}

/** A 429 of the real one: no JSON, and advice behind it. */
export const geminiLimit = geminiError(
  "[API Error: quota exceeded]\nPlease wait and try again later.",
);
