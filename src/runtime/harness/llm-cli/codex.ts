import { join } from "node:path";
import { stringify } from "smol-toml";
import type { CliCommand, CliRequest, LlmCli, CliReader, CliResult } from "./llm-cli.ts";
import { retriesOf } from "../retry-policy.ts";
import type { Transcript } from "../transcript.ts";
import { ownMcpServer } from "../../../foundation/contracts/mcp.ts";
import { cliHeader } from "../../../foundation/contracts/model-gateway.ts";
import { answerProblems, goOn, ownTimeoutMs } from "./llm-cli.ts";
import { fieldsOf, listOf, numberOf, sumOf, textOf, type Fields, reasonIn } from "./fields.ts";

/** Codex. Options, settings and stream as its version 0.171 has them (`codex exec --help`, `codex exec --json`). */
const noInput = "codex  accepts no messages while it works: al kill ends the run";

export const codex: LlmCli = {
  program: "codex",
  provider: "openai",
  api: "openai-responses",
  install: "npm install -g @openai/codex",
  refuses: { steer: noInput, stop: noInput },
  refusesRoot: false,
  needsTools: true,
  // `rollout-<time>-<id>.jsonl`; the threads of its own agents begin later.
  keptSession: { files: "*/*/*/rollout-*.jsonl", idOf: (path) => path.slice(-42, -6) },
  firstRequest: { input: 6_000, output: 1_024 },
  command,
  reader: readCodex,
};

const keyVariable = "CODEX_API_KEY";

function homeOf(configDir: string): string {
  return join(configDir, "codex");
}

function command(request: CliRequest): CliCommand {
  const { model, key, prompt, configDir, workDir, resume } = request;
  return {
    args: [
      "exec",
      "--json",
      "--skip-git-repo-check",
      "--ignore-rules",
      // The runtime is the sandbox, and a run has no person to ask.
      "--dangerously-bypass-approvals-and-sandbox",
      "-C",
      workDir,
      "-m",
      model.model,
      ...(resume === null ? [] : ["resume", resume]),
      // The prompt comes on standard input.
      "-",
    ],
    env: { [keyVariable]: key, CODEX_HOME: homeOf(configDir) },
    input: prompt === goOn ? goOn : `${prompt}\n\n${toolsNote}`,
    files: { "codex/config.toml": stringify(settings(request)) },
  };
}

/** codex takes a command that is not done after 10 s for one that works on, and no setting changes that. */
const toolsNote = `Each of these commands is also a tool of the MCP server ${ownMcpServer}. To wait for a lock, a call, a trigger or a person, call the tool: your shell does not wait.`;

/** Settings in a file rather than `-c` arguments, which every user of the machine can read. */
function settings(request: CliRequest): Record<string, unknown> {
  const { thinkingLevel, contextWindow } = request.model;
  const effort = thinkingLevel === null || thinkingLevel === "off" ? null : thinkingLevel;
  return {
    model_instructions_file: request.systemPromptFile,
    // AGENTS.md files in the working directory and its parents must not instruct the agent.
    project_doc_max_bytes: 0,
    ...(effort === null ? {} : { model_reasoning_effort: effort }),
    ...(contextWindow === null ? {} : { model_context_window: contextWindow }),
    ...(request.sessionTokens !== null && {
      model_auto_compact_token_limit: request.sessionTokens,
    }),
    // By default codex hides variables with KEY or TOKEN in their names, including the agent's credentials.
    shell_environment_policy: {
      inherit: "all",
      ignore_default_excludes: true,
      exclude: [keyVariable],
    },
    // Web search runs on the provider's machines, which a model's config has to allow.
    web_search: "disabled",
    // Without plugins and statistics: with them it contacts github.com and chatgpt.com at each start.
    features: { plugins: false },
    analytics: { enabled: false },
    ...(request.mcp.length > 0 && { mcp_servers: mcpSettings(request.mcp) }),
    model_provider: "configured",
    model_providers: { configured: provider(request) },
  };
}

function mcpSettings(servers: CliRequest["mcp"]): Record<string, unknown> {
  const entries = servers.map(({ name, command, args, env, startSeconds }) => {
    // A call may wait for a person; the scheduler bounds it.
    const timeouts = { startup_timeout_sec: startSeconds, tool_timeout_sec: longestCallSeconds };
    // Otherwise codex asks its model before it knows the tools.
    const start = { required: true, startup_readiness: "catalog" };
    return [name, { command, args, env, ...timeouts, ...start }] as const;
  });
  return Object.fromEntries(entries);
}

/** Longer than any question waits for its answer. */
const longestCallSeconds = 25 * 86_400;

/**
 * A provider of our own, because the settings of codex's built-in one can't be changed: it ignores the model's retries,
 * and opens a WebSocket that gateways don't forward.
 */
function provider({ model, baseUrl }: CliRequest): Record<string, unknown> {
  const { timeoutSeconds } = model;
  return {
    name: "configured",
    base_url: baseUrl,
    env_key: keyVariable,
    http_headers: { [cliHeader]: "1" },
    wire_api: "responses",
    supports_websockets: false,
    // Retries of requests and of streams multiply, so only one of them is set.
    request_max_retries: 0,
    stream_max_retries: retriesOf(model),
    ...(timeoutSeconds === null ? {} : { stream_idle_timeout_ms: ownTimeoutMs(timeoutSeconds) }),
  };
}

/** Reads the stream of Codex 0.171: `codex exec --json`. */
function readCodex(transcript: Transcript): CliReader {
  let result: CliResult | null = null;
  let sessionId: string | null = null;
  let isAnswered = false;
  return {
    take: (event) => {
      const item = fieldsOf(event.item);
      switch (event.type) {
        case "thread.started":
          sessionId = textOf(event.thread_id) || null;
          break;
        case "item.started":
          isAnswered = false;
          logCall(item, transcript);
          break;
        case "item.completed":
          if (item.type === "agent_message") isAnswered = textOf(item.text).trim() !== "";
          logItem(item, transcript);
          break;
        case "error":
          result = ended(reasonIn(event.message), null);
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
          result = ended(reasonIn(fieldsOf(event.error).message), null);
          break;
      }
    },
    result: () => result,
    sessionId: () => sessionId,
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

/** Name and input of an item that is a tool call; null for other items. */
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
