import { join } from "node:path";
import type { JobModel } from "../../../foundation/contracts/job.ts";
import { oauthMark } from "../../../foundation/contracts/model-address.ts";
import { readClaude } from "./claude-stream.ts";
import type { CliCommand, CliRequest, LlmCli } from "./llm-cli.ts";
import { retriesOf } from "../retries.ts";

/** Claude Code. Options and stream as its version 2.1 has them (`claude --help`, `--output-format stream-json`). */
export const claude: LlmCli = {
  program: "claude",
  provider: "anthropic",
  api: "anthropic-messages",
  install: "npm install -g @anthropic-ai/claude-code",
  refusesRoot: true,
  firstRequest: { input: 23_000, output: 32_000 },
  command,
  reader: readClaude,
};

/** A day, in ms. */
const longestCommandMs = "86400000";

function command(request: CliRequest): CliCommand {
  const { model, baseUrl, key, prompt, systemPromptFile, configDir } = request;
  const { thinkingLevel } = model;
  const effort = thinkingLevel === "minimal" ? "low" : thinkingLevel;
  return {
    args: [
      "-p",
      ...["--output-format", "stream-json", "--verbose"],
      ...["--model", model.model],
      ...(effort === null || effort === "off" ? [] : ["--effort", effort]),
      ...["--system-prompt-file", systemPromptFile],
      // Nothing of the user's own settings, servers and skills reaches an agent.
      ...["--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"],
      "--no-session-persistence",
      // The runtime is the sandbox, and a run has no person to ask.
      "--dangerously-skip-permissions",
    ],
    env: {
      ...keyVariables(model.authType, key),
      ANTHROPIC_BASE_URL: baseUrl,
      ...requestVariables(model),
      CLAUDE_CONFIG_DIR: join(configDir, "claude"),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: String(retriesOf(model)),
      // After those it would ask once more, without a stream.
      CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: "1",
      DISABLE_AUTOUPDATER: "1",
      // Its own two minutes would end a command that waits for a lock, a call or a trigger; the run's time is bounded.
      BASH_DEFAULT_TIMEOUT_MS: longestCommandMs,
      BASH_MAX_TIMEOUT_MS: longestCommandMs,
    },
    input: prompt,
  };
}

/** An API key among the agent's own credentials would win over the model's token. */
function keyVariables(authType: string, key: string): CliCommand["env"] {
  return authType === "oauth_token"
    ? { CLAUDE_CODE_OAUTH_TOKEN: `${oauthMark}${key}`, ANTHROPIC_API_KEY: null }
    : { ANTHROPIC_API_KEY: key };
}

/** What the model's config has about its requests. */
function requestVariables({ maxTokens, timeoutSeconds }: JobModel): CliCommand["env"] {
  return {
    ...(maxTokens === null ? {} : { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxTokens) }),
    ...(timeoutSeconds === null ? {} : timeouts(String(timeoutSeconds * 1000))),
  };
}

/** Until the head of an answer, and between two pieces of it. */
function timeouts(ms: string): CliCommand["env"] {
  return {
    API_TIMEOUT_MS: ms,
    CLAUDE_ENABLE_STREAM_WATCHDOG: "1",
    CLAUDE_STREAM_IDLE_TIMEOUT_MS: ms,
    CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS: ms,
  };
}
