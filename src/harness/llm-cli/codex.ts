import { join } from "node:path";
import { stringify } from "smol-toml";
import type { Story } from "../story.ts";
import { fieldsOf, listOf, numberOf, sumOf, textOf } from "./fields.ts";
import type { Fields } from "./fields.ts";
import type { CliCommand, CliReader, CliRequest, CliResult, LlmCli } from "./llm-cli.ts";

/** Codex. Options, settings and stream as its version 0.169 has them (`codex exec --help`, `codex exec --json`). */
export const codex: LlmCli = {
  program: "codex",
  provider: "openai",
  install: "npm install -g @openai/codex",
  command,
  reader,
};

const keyVariable = "CODEX_API_KEY";

function command(request: CliRequest): CliCommand {
  const { model, key, prompt, configDir, workDir } = request;
  return {
    args: [
      "exec",
      ...["--json", "--ephemeral", "--skip-git-repo-check", "--ignore-rules"],
      // The runtime is the sandbox; nobody is there to answer a question.
      "--dangerously-bypass-approvals-and-sandbox",
      ...["-C", workDir, "-m", model.model],
      // The prompt comes on standard input.
      "-",
    ],
    env: {
      ...(key === null ? {} : { [keyVariable]: key }),
      CODEX_HOME: join(configDir, "codex"),
    },
    input: prompt,
    files: { "codex/config.toml": stringify(settings(request)) },
  };
}

/** A file rather than `-c` arguments: an address may hold a password. */
function settings({ model, systemPromptFile }: CliRequest): Record<string, unknown> {
  const { baseUrl, thinkingLevel } = model;
  const effort = thinkingLevel === null || thinkingLevel === "off" ? null : thinkingLevel;
  return {
    model_instructions_file: systemPromptFile,
    // Files that lie around, in a folder above too, are no instructions of an agent's.
    project_doc_max_bytes: 0,
    ...(effort === null ? {} : { model_reasoning_effort: effort }),
    // By default it hides each variable with KEY or TOKEN in its name, so the agent's credentials too.
    shell_environment_policy: {
      inherit: "all",
      ignore_default_excludes: true,
      exclude: [keyVariable],
    },
    ...(baseUrl === null ? {} : ownProvider(baseUrl)),
  };
}

function ownProvider(baseUrl: string) {
  const provider = {
    name: "configured",
    base_url: baseUrl,
    env_key: keyVariable,
    wire_api: "responses",
    request_max_retries: 0,
    stream_max_retries: 0,
  };
  return { model_provider: "configured", model_providers: { configured: provider } };
}

function reader(story: Story): CliReader {
  let result: CliResult | null = null;
  return {
    take: (event) => {
      switch (event.type) {
        case "item.started":
          tellCall(fieldsOf(event.item), story);
          break;
        case "item.completed":
          tellItem(fieldsOf(event.item), story);
          break;
        case "turn.completed":
          // Cached tokens are among the input's, reasoning tokens among the output's.
          result = ended(null, sumOf(fieldsOf(event.usage), "input_tokens", "output_tokens"));
          break;
        case "turn.failed":
          result = ended(failure(textOf(fieldsOf(event.error).message)), null);
          break;
      }
    },
    result: () => result,
  };
}

function ended(error: string | null, tokens: number | null): CliResult {
  return { error, tokens, costUsd: null, turns: null };
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

function tellCall(item: Fields, story: Story): void {
  const call = callOf(item);
  if (call !== null) story.toolCall(textOf(item.id), call.tool, call.input);
}

function tellItem(item: Fields, story: Story): void {
  if (item.type === "agent_message") return story.said(textOf(item.text));
  if (item.type === "error") return story.note(40, textOf(item.message));
  const call = callOf(item);
  if (call === null) return;
  const exitCode = numberOf(item.exit_code);
  const isError = item.status === "failed" || (exitCode !== null && exitCode !== 0);
  const output = textOf(item.aggregated_output) || paths(item.changes) || resultText(item);
  story.toolResult(textOf(item.id), output, isError, call.tool);
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
