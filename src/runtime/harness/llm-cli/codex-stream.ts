import type { Transcript } from "../transcript.ts";
import { answerProblems } from "./llm-cli.ts";
import { fieldsOf, listOf, numberOf, sumOf, textOf } from "./fields.ts";
import type { Fields } from "./fields.ts";
import type { CliReader, CliResult } from "./llm-cli.ts";

/** Reads the stream of Codex 0.169: `codex exec --json`. */
export function readCodex(transcript: Transcript): CliReader {
  let result: CliResult | null = null;
  let sessionId: string | null = null;
  let isAnswered = false;
  let hasRetried = false;
  return {
    take: (event) => {
      const item = fieldsOf(event.item);
      switch (event.type) {
        case "thread.started":
          sessionId = textOf(event.thread_id) || null;
          break;
        case "item.started":
          isAnswered = false;
          hasRetried = false;
          logCall(item, transcript);
          break;
        case "item.completed":
          if (item.type === "agent_message") isAnswered = textOf(item.text).trim() !== "";
          hasRetried &&= item.type === "error";
          logItem(item, transcript);
          break;
        case "error":
          result = ended(failure(textOf(event.message)), null);
          hasRetried ||= reconnecting.test(textOf(event.message));
          logError(textOf(event.message), transcript);
          break;
        case "turn.completed":
          // Cached tokens are among the input's, reasoning tokens among the output's.
          result = ended(
            isAnswered ? null : answerProblems.silent,
            sumOf(fieldsOf(event.usage), "input_tokens", "output_tokens"),
          );
          break;
        case "turn.failed":
          result = ended(failure(textOf(fieldsOf(event.error).message)), null);
          break;
      }
    },
    result: () => result,
    // The last request was retried as often as it may be.
    sessionId: () => (hasRetried ? null : sessionId),
  };
}

function ended(error: string | null, tokens: number | null): CliResult {
  return { error, tokens, costUsd: null, turns: null };
}

const reconnecting = /^Reconnecting\.\.\. (\d+)\/(\d+) \(([\s\S]*)\)$/;

/** `Reconnecting... 1/2 (stream disconnected before completion: …)` is a retry; the last error is the session's own. */
function logError(message: string, transcript: Transcript): void {
  const [, attempt, retries, why] = reconnecting.exec(message) ?? [];
  if (why === undefined) return transcript.note(40, `codex: ${message}`);
  transcript.note(40, `the model failed (${why}); codex retries (${attempt} of ${retries})`);
}

/** `unexpected status 401 Unauthorized: …` with the status first, as providers' errors are read. */
function failure(message: string): string {
  const status = /\bstatus:? (\d{3})\b/.exec(message)?.[1];
  return [status, message === "" ? "no reason given" : message]
    .filter((part) => part !== undefined)
    .join(" ");
}

/** What of an item is a tool call: its name and input; null for the others. */
function callOf(item: Fields): { readonly tool: string; readonly input: unknown } | null {
  const { type, command: shell, changes, server, tool, arguments: given, query } = item;
  switch (type) {
    case "command_execution":
      return { tool: "shell", input: { command: shell } };
    case "file_change":
      return { tool: "edit", input: { changes } };
    case "mcp_tool_call":
      return { tool: `${textOf(server)}.${textOf(tool)}`, input: given };
    case "web_search":
      return { tool: "web_search", input: { query } };
    default:
      return null;
  }
}

function logCall(item: Fields, transcript: Transcript): void {
  const call = callOf(item);
  if (call !== null) transcript.toolCall(textOf(item.id), call.tool, call.input);
}

function logItem(item: Fields, transcript: Transcript): void {
  if (item.type === "agent_message") return transcript.assistant(textOf(item.text));
  if (item.type === "error") return transcript.note(40, textOf(item.message));
  const call = callOf(item);
  if (call === null) return;
  const exitCode = numberOf(item.exit_code);
  const isError = item.status === "failed" || (exitCode !== null && exitCode !== 0);
  const output = textOf(item.aggregated_output) || paths(item.changes) || resultText(item);
  transcript.toolResult(textOf(item.id), output, isError, call.tool);
}

function paths(changes: unknown): string {
  return listOf(changes)
    .map(({ kind, path }) => `${textOf(kind)} ${textOf(path)}`)
    .join("\n");
}

function resultText({ result, error }: Fields): string {
  const texts = listOf(fieldsOf(result).content).map(({ text }) => textOf(text));
  return texts.join("\n") || textOf(fieldsOf(error).message);
}
