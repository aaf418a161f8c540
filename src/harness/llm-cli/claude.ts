import { join } from "node:path";
import type { Story } from "../story.ts";
import { fieldsOf, listOf, numberOf, sumOf, textOf } from "./fields.ts";
import type { Fields } from "./fields.ts";
import type { CliCommand, CliReader, CliRequest, CliResult, LlmCli } from "./llm-cli.ts";

/** Claude Code. Options and stream as its version 2.1 has them (`claude --help`, `--output-format stream-json`). */
export const claude: LlmCli = {
  program: "claude",
  provider: "anthropic",
  install: "npm install -g @anthropic-ai/claude-code",
  command,
  reader,
};

/** A day, in ms. */
const longestCommandMs = "86400000";

function command({ model, key, prompt, systemPromptFile, configDir }: CliRequest): CliCommand {
  const effort = efforts[model.thinkingLevel ?? "off"];
  return {
    args: [
      "-p",
      ...["--output-format", "stream-json", "--verbose"],
      ...["--model", model.model],
      ...(effort === undefined ? [] : ["--effort", effort]),
      ...["--system-prompt-file", systemPromptFile],
      // Nothing of the user's own settings, servers and skills reaches an agent.
      ...["--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"],
      "--no-session-persistence",
      // The runtime is the sandbox; nobody is there to answer a question.
      "--dangerously-skip-permissions",
    ],
    env: {
      ...keyVariables(model.authType, key),
      ...(model.baseUrl === null ? {} : { ANTHROPIC_BASE_URL: model.baseUrl }),
      CLAUDE_CONFIG_DIR: join(configDir, "claude"),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      DISABLE_AUTOUPDATER: "1",
      // Its own two minutes would end a command that waits for a lock, a call or a trigger; the run's time is bounded.
      BASH_DEFAULT_TIMEOUT_MS: longestCommandMs,
      BASH_MAX_TIMEOUT_MS: longestCommandMs,
    },
    input: prompt,
  };
}

const efforts: Partial<Record<string, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
};

/** An API key among the agent's own credentials would win over the model's token. */
function keyVariables(authType: string, key: string | null): CliCommand["env"] {
  if (key === null) return {};
  return authType === "oauth_token"
    ? { CLAUDE_CODE_OAUTH_TOKEN: key, ANTHROPIC_API_KEY: null }
    : { ANTHROPIC_API_KEY: key };
}

function reader(story: Story): CliReader {
  let result: CliResult | null = null;
  return {
    take: (event) => {
      const content = fieldsOf(event.message).content;
      switch (event.type) {
        case "assistant":
          for (const part of listOf(content)) tellAnswer(part, story);
          break;
        case "user":
          for (const part of listOf(content)) tellToolResult(part, story);
          break;
        case "result":
          result = resultOf(event);
          break;
      }
    },
    result: () => result,
  };
}

function tellAnswer(part: Fields, story: Story): void {
  if (part.type === "text") story.said(textOf(part.text));
  if (part.type === "tool_use") story.toolCall(textOf(part.id), textOf(part.name), part.input);
}

function tellToolResult(part: Fields, story: Story): void {
  if (part.type !== "tool_result") return;
  const output =
    typeof part.content === "string"
      ? part.content
      : listOf(part.content)
          .map(({ text }) => (typeof text === "string" ? text : "[not text]"))
          .join("\n");
  story.toolResult(textOf(part.tool_use_id), output, part.is_error === true);
}

/** `is_error` decides: `subtype` says "success" also when the provider refused. */
function resultOf(event: Fields): CliResult {
  const usage = fieldsOf(event.usage);
  return {
    error: event.is_error === true ? errorOf(event) : null,
    tokens: sumOf(
      usage,
      "input_tokens",
      "cache_creation_input_tokens",
      "cache_read_input_tokens",
      "output_tokens",
    ),
    costUsd: numberOf(event.total_cost_usd),
    turns: numberOf(event.num_turns),
  };
}

function errorOf({ result, subtype, api_error_status }: Fields): string {
  const said = textOf(result) || textOf(subtype) || "no reason given";
  const status = numberOf(api_error_status);
  return status === null ? said : `${status} ${said}`;
}
