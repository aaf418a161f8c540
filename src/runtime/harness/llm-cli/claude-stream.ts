import type { Transcript } from "../transcript.ts";
import { answerProblems } from "./llm-cli.ts";
import { fieldsOf, listOf, numberOf, sumOf, textOf } from "./fields.ts";
import type { Fields } from "./fields.ts";
import type { CliReader, CliResult } from "./llm-cli.ts";

/** Reads the stream of Claude Code 2.1: `--output-format stream-json`. */
export function readClaude(transcript: Transcript): CliReader {
  let result: CliResult | null = null;
  return {
    take: (event) => {
      const content = fieldsOf(event.message).content;
      switch (event.type) {
        case "assistant":
          for (const part of listOf(content)) logAnswer(part, transcript);
          break;
        case "user":
          for (const part of listOf(content)) logToolResult(part, transcript);
          break;
        case "system":
          if (event.subtype === "api_retry") logRetry(event, transcript);
          break;
        case "result":
          result = resultOf(event);
          break;
      }
    },
    result: () => result,
  };
}

const tokenFields = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
] as const;

function logAnswer(part: Fields, transcript: Transcript): void {
  if (part.type === "text") transcript.assistant(textOf(part.text));
  if (part.type === "tool_use") transcript.toolCall(textOf(part.id), textOf(part.name), part.input);
}

function logToolResult(part: Fields, transcript: Transcript): void {
  if (part.type !== "tool_result") return;
  const output =
    typeof part.content === "string"
      ? part.content
      : listOf(part.content)
          .map(({ text }) => (typeof text === "string" ? text : "[not text]"))
          .join("\n");
  transcript.toolResult(textOf(part.tool_use_id), output, part.is_error === true);
}

/** `{"subtype":"api_retry","attempt":1,"max_retries":2,"retry_delay_ms":549,"error_status":429,"error":"rate_limit"}` */
function logRetry(event: Fields, transcript: Transcript): void {
  const { attempt, max_retries, retry_delay_ms, error_status, error } = event;
  const why = [numberOf(error_status), textOf(error)].filter((part) => part !== null).join(" ");
  const delay = `${((numberOf(retry_delay_ms) ?? 0) / 1000).toFixed(1)} s`;
  transcript.note(
    40,
    `the model failed (${why}); claude retries in ${delay} (${numberOf(attempt) ?? 1} of ${numberOf(max_retries) ?? 1})`,
  );
}

/** `is_error` decides: `subtype` is "success" also when the provider refused. */
function resultOf(event: Fields): CliResult {
  const usage = fieldsOf(event.usage);
  return {
    error: event.is_error === true ? errorOf(event) : answerProblem(event),
    tokens: sumOf(usage, ...tokenFields),
    costUsd: numberOf(event.total_cost_usd),
    turns: numberOf(event.num_turns),
  };
}

function errorOf({ result, subtype, api_error_status }: Fields): string {
  const message = textOf(result) || textOf(subtype) || "no reason given";
  const status = numberOf(api_error_status);
  return status === null ? message : `${status} ${message}`;
}

/** Claude Code counts an answer without text as a success. */
function answerProblem({ result, stop_reason }: Fields): string | null {
  if (stop_reason === "max_tokens") return answerProblems.cut;
  if (stop_reason === "refusal") return answerProblems.refused;
  return textOf(result).trim() === "" ? answerProblems.empty : null;
}
