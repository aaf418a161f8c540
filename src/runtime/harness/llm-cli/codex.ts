import { join } from "node:path";
import { stringify } from "smol-toml";
import { readCodex } from "./codex-stream.ts";
import type { CliCommand, CliRequest, LlmCli } from "./llm-cli.ts";
import { retriesOf } from "../retries.ts";

/** Codex. Options, settings and stream as its version 0.169 has them (`codex exec --help`, `codex exec --json`). */
export const codex: LlmCli = {
  program: "codex",
  provider: "openai",
  api: "openai-responses",
  install: "npm install -g @openai/codex",
  refusesRoot: false,
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
      ...["--json", "--skip-git-repo-check", "--ignore-rules"],
      // The runtime is the sandbox, and a run has no person to ask.
      "--dangerously-bypass-approvals-and-sandbox",
      ...["-C", workDir, "-m", model.model],
      ...(resume === null ? [] : ["resume", resume]),
      // The prompt comes on standard input.
      "-",
    ],
    env: {
      [keyVariable]: key,
      CODEX_HOME: homeOf(configDir),
    },
    input: resume === null ? prompt : "Continue.",
    files: { "codex/config.toml": stringify(settings(request)) },
  };
}

/** A file rather than `-c` arguments, which every user of the machine can read. */
function settings(request: CliRequest): Record<string, unknown> {
  const { thinkingLevel, contextWindow } = request.model;
  const effort = thinkingLevel === null || thinkingLevel === "off" ? null : thinkingLevel;
  return {
    model_instructions_file: request.systemPromptFile,
    // Files that lie around, in a folder above too, are no instructions of an agent's.
    project_doc_max_bytes: 0,
    ...(effort === null ? {} : { model_reasoning_effort: effort }),
    ...(contextWindow === null ? {} : { model_context_window: contextWindow }),
    // By default it hides each variable with KEY or TOKEN in its name, so the agent's credentials too.
    shell_environment_policy: {
      inherit: "all",
      ignore_default_excludes: true,
      exclude: [keyVariable],
    },
    // It would run on the provider's machines, which a model's config has to allow.
    web_search: "disabled",
    // Plugins and statistics of its vendor, which it looks for on github.com and chatgpt.com at each start.
    features: { plugins: false },
    analytics: { enabled: false },
    model_provider: "configured",
    model_providers: { configured: provider(request) },
  };
}

/**
 * The settings of codex's own provider can't be changed: it retries as often as it likes, and opens a WebSocket that
 * gateways don't pass.
 */
function provider({ model, baseUrl }: CliRequest): Record<string, unknown> {
  const { timeoutSeconds } = model;
  return {
    name: "configured",
    base_url: baseUrl,
    env_key: keyVariable,
    wire_api: "responses",
    supports_websockets: false,
    // Both count for one request, so that they multiply.
    request_max_retries: 0,
    stream_max_retries: retriesOf(model),
    ...(timeoutSeconds === null ? {} : { stream_idle_timeout_ms: timeoutSeconds * 1000 }),
  };
}
