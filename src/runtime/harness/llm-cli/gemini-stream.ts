import type { Transcript } from "../transcript.ts";
import { fieldsOf, sumOf, textOf } from "./fields.ts";
import type { Fields } from "./fields.ts";
import type { CliReader, CliResult } from "./llm-cli.ts";

/** Reads the stream of Gemini CLI 0.61: `--output-format stream-json`. */
export function readGemini(transcript: Transcript): CliReader {
  let result: CliResult | null = null;
  /** The last error, until the session goes on after it. */
  let lastError = "";
  let text = "";
  // It streams its answers in pieces; an answer is over when another event comes.
  const logText = () => {
    transcript.assistant(text);
    text = "";
  };
  return {
    take: (event) => {
      if (event.type === "message" && event.role === "assistant") {
        lastError = "";
        text += textOf(event.content);
        if (event.delta !== true || text.length > maxHeldCharacters) logText();
        return;
      }
      logText();
      if (event.type === "tool_use") {
        lastError = "";
        transcript.toolCall(textOf(event.tool_id), textOf(event.tool_name), event.parameters);
      }
      if (event.type === "tool_result") logToolResult(event, transcript);
      if (event.type === "error") {
        lastError = textOf(event.message);
        transcript.note(40, lastError);
      }
      if (event.type === "result") result = resultOf(event, lastError);
    },
    result: () => result,
  };
}

const maxHeldCharacters = 256 * 1024;

function logToolResult(event: Fields, transcript: Transcript): void {
  const output = textOf(event.output) || textOf(fieldsOf(event.error).message);
  transcript.toolResult(textOf(event.tool_id), output, event.status === "error");
}

/**
 * A result without a reason has it in the error before. A session that Gemini CLI itself ended early, such as by its
 * detection of loops, has the status "success" after that error.
 */
function resultOf(event: Fields, lastError: string): CliResult {
  const failed = event.status !== "success" || lastError !== "";
  return {
    error: failed ? failure(textOf(fieldsOf(event.error).message) || lastError) : null,
    tokens: sumOf(fieldsOf(event.stats), "total_tokens"),
    costUsd: null,
    turns: null,
  };
}

/** `[API Error: {"error":{"code":401,"message":"…"}}]`, as `401 {…}`, which is how providers' errors are read. */
function failure(message: string): string {
  const [, body] = /^\[API Error: ([\s\S]*)\](?:\n[\s\S]*)?$/.exec(message) ?? [];
  const status = /"code":\s*(\d{3})\b/.exec(body ?? "")?.[1];
  return [status, body ?? (message === "" ? "no reason given" : message)]
    .filter((part) => part !== undefined)
    .join(" ");
}
