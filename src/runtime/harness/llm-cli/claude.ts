import { join } from "node:path";
import { longestTimerMs } from "../../../../streams/longest-timer.ts";
import type { JobModel } from "../../../foundation/contracts/job.ts";
import { cliHeader, oauthMark } from "../../../foundation/contracts/model-gateway.ts";
import type { CliCommand, CliRequest, LlmCli, CliReader, CliResult } from "./llm-cli.ts";
import { retriesOf } from "../retry-policy.ts";
import type { Transcript } from "../transcript.ts";
import { answerProblems, ownTimeoutMs } from "./llm-cli.ts";
import { fieldsOf, listOf, numberOf, sumOf, textOf, type Fields, reasonIn } from "./fields.ts";

/** Claude Code. Options and stream as its version 2.1 has them (`claude --help`, `--output-format stream-json`). */
export const claude: LlmCli = {
  program: "claude",
  provider: "anthropic",
  api: "anthropic-messages",
  install: "npm install -g @anthropic-ai/claude-code",
  refuses: { steer: null, stop: "claude can't stop after a turn: al kill ends the run at once" },
  inputLine: userLine,
  // By its path, as it finds ids in the folder of the working directory only.
  keptSession: { files: "*/*.jsonl", idOf: (path) => path },
  refusesRoot: true,
  firstRequest: { input: 23_000, output: 32_000 },
  command,
  reader: readClaude,
};

function startVariables(servers: CliRequest["mcp"]): CliCommand["env"] {
  if (servers.length === 0) return {};
  const seconds = Math.max(...servers.map(({ startSeconds }) => startSeconds));
  return {
    MCP_TIMEOUT: String(seconds * 1000),
    // Otherwise claude asks its model before it knows the tools.
    MCP_CONNECTION_NONBLOCKING: "false",
    // Otherwise the model has to search for the tools first.
    ENABLE_TOOL_SEARCH: "false",
  };
}

/** How long a shell command may run, in ms: longer than any question waits for its answer. */
const longestCommandMs = String(longestTimerMs);

function command(request: CliRequest): CliCommand {
  const { model, baseUrl, key, prompt, systemPromptFile, configDir, mcp, resume } = request;
  const { sessionTokens } = request;
  const { thinkingLevel } = model;
  const effort = thinkingLevel === "minimal" ? "low" : thinkingLevel;
  return {
    args: [
      "-p",
      "--input-format",
      "stream-json",
      "--output-format",
      "stream-json",
      "--verbose",
      "--model",
      model.model,
      ...(effort === null || effort === "off" ? [] : ["--effort", effort]),
      "--system-prompt-file",
      systemPromptFile,
      // Keeps the user's own settings, servers and skills away from agents.
      "--setting-sources",
      "",
      "--strict-mcp-config",
      "--disable-slash-commands",
      ...(mcp.length === 0 ? [] : ["--mcp-config", join(configDir, mcpFile)]),
      ...(resume === null ? [] : ["--resume", resume]),
      // The runtime is the sandbox, and a run has no person to ask.
      "--dangerously-skip-permissions",
    ],
    env: {
      ...keyVariables(model.authType, key),
      ANTHROPIC_BASE_URL: baseUrl,
      ANTHROPIC_CUSTOM_HEADERS: `${cliHeader}: 1`,
      ...requestVariables(model),
      ...(sessionTokens !== null && { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(sessionTokens) }),
      CLAUDE_CONFIG_DIR: join(configDir, "claude"),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: String(retriesOf(model)),
      // Otherwise Claude Code asks once more after the last retry, without a stream.
      CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: "1",
      DISABLE_AUTOUPDATER: "1",
      // Claude Code's own limit of two minutes would end a command that waits for a lock, a call, a trigger or a person, or move it to the
      // background, and the model would continue without the answer; the run's time is bounded.
      BASH_DEFAULT_TIMEOUT_MS: longestCommandMs,
      BASH_MAX_TIMEOUT_MS: longestCommandMs,
      // Tools of MCP servers have no limit here either: the scheduler bounds their calls.
      MCP_TOOL_TIMEOUT: longestCommandMs,
      CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: "0",
      ...startVariables(mcp),
    },
    input: userLine(prompt),
    ...(mcp.length > 0 && { files: { [mcpFile]: JSON.stringify(mcpSettings(mcp)) } }),
  };
}

const mcpFile = "claude-mcp.json";

function mcpSettings(servers: CliRequest["mcp"]): object {
  const entries = servers.map(({ name, command, args, env }) => {
    return [name, { type: "stdio", command, args, env }] as const;
  });
  return { mcpServers: Object.fromEntries(entries) };
}

/** Claude Code gives the model a line that comes while it works with the results of its tools. */
function userLine(text: string): string {
  const message = { role: "user", content: [{ type: "text", text }] };
  return `${JSON.stringify({ type: "user", message })}\n`;
}

/** Unsets the API key for an OAuth token: a key among the agent's credentials would take precedence over the token. */
function keyVariables(authType: string, key: string): CliCommand["env"] {
  return authType === "oauth_token"
    ? { CLAUDE_CODE_OAUTH_TOKEN: `${oauthMark}${key}`, ANTHROPIC_API_KEY: null }
    : { ANTHROPIC_API_KEY: key };
}

/** Variables for the request settings of the model's config. */
function requestVariables({ maxTokens, timeoutSeconds }: JobModel): CliCommand["env"] {
  return {
    ...(maxTokens === null ? {} : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxTokens) }),
    ...(timeoutSeconds === null ? {} : timeouts(String(ownTimeoutMs(timeoutSeconds)))),
  };
}

/** Timeouts until the head of an answer, and between two chunks of it. */
function timeouts(ms: string): CliCommand["env"] {
  return {
    API_TIMEOUT_MS: ms,
    CLAUDE_ENABLE_STREAM_WATCHDOG: "1",
    CLAUDE_STREAM_IDLE_TIMEOUT_MS: ms,
    CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS: ms,
  };
}

/** Reads the stream of Claude Code 2.1: `--output-format stream-json`. */
function readClaude(transcript: Transcript): CliReader {
  let result: CliResult | null = null;
  let sessionId: string | null = null;
  /** Open work of claude: a turn, and tasks in the background. The end of a task begins another turn. */
  const work = new Set<string>();
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
          if (event.subtype === "init") sessionId = textOf(event.session_id) || null;
          if (event.subtype === "api_retry") logRetry(event, transcript);
          followWork(event, work);
          break;
        case "result":
          work.delete(turn);
          result = withEarlier(result, resultOf(event));
          break;
      }
    },
    result: () => result,
    work: () => (work.has(turn) ? "turn" : work.size > 0 ? "background" : null),
    sessionId: () => sessionId,
  };
}

const turn = "turn";

/** Each turn begins with `init`; each command or sub-agent, in the background or not, has both of the other events. */
function followWork({ subtype, task_id }: Fields, work: Set<string>): void {
  if (subtype === "init") work.add(turn);
  if (subtype === "task_started") work.add(textOf(task_id));
  if (subtype === "task_notification") work.delete(textOf(task_id));
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

/** A message that came during the last turn has a result of its own; only the cost is that of both. */
function withEarlier(earlier: CliResult | null, last: CliResult): CliResult {
  if (earlier === null) return last;
  const tokens = (earlier.tokens ?? 0) + (last.tokens ?? 0);
  return { ...last, tokens, turns: (earlier.turns ?? 0) + (last.turns ?? 0) };
}

/** `is_error` decides: `subtype` is "success" also when the provider refused. */
function resultOf(event: Fields): CliResult {
  const usage = fieldsOf(event.usage);
  return {
    error: event.is_error === true ? reasonIn(event.result, event.subtype) : answerProblem(event),
    tokens: sumOf(usage, ...tokenFields),
    costUsd: numberOf(event.total_cost_usd),
    turns: numberOf(event.num_turns),
  };
}

/** Claude Code counts an answer without text as a success. */
function answerProblem({ result, stop_reason }: Fields): string | null {
  if (stop_reason === "max_tokens") return answerProblems.cut;
  if (stop_reason === "refusal") return answerProblems.refused;
  return textOf(result).trim() === "" ? answerProblems.empty : null;
}
