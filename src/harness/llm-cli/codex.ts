import { join } from "node:path";
import { glob } from "node:fs/promises";
import { stringify } from "smol-toml";
import { readCodex } from "./codex-stream.ts";
import type { CliCommand, CliRequest, LlmCli, CliRecord } from "./llm-cli.ts";
import { retriesOf } from "../retries.ts";
import { fieldsOf, numberOf, textOf, totalOf } from "./fields.ts";
import { jsonLines } from "./json-files.ts";

/** Codex. Options, settings and stream as its version 0.169 has them (`codex exec --help`, `codex exec --json`). */
export const codex: LlmCli = {
  program: "codex",
  provider: "openai",
  api: "openai-responses",
  install: "npm install -g @openai/codex",
  command,
  reader: readCodex,
  record: (configDir) => codexRecord(homeOf(configDir)),
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
  const retries = retriesOf(model);
  return {
    name: "configured",
    base_url: baseUrl,
    env_key: keyVariable,
    wire_api: "responses",
    supports_websockets: false,
    request_max_retries: retries,
    stream_max_retries: retries,
    ...(timeoutSeconds === null ? {} : { stream_idle_timeout_ms: timeoutSeconds * 1000 }),
  };
}

/**
 * What Codex 0.169 wrote of its sessions into `CODEX_HOME/sessions`: a `token_usage_record` after each answer, with
 * the total of its thread. Its stream has tokens only at the end of a turn that succeeded.
 */
async function codexRecord(home: string): Promise<CliRecord> {
  const threads = new Map<string, number>();
  for await (const path of glob(join(home, "sessions", "**", "*.jsonl"))) {
    for await (const { type, payload } of jsonLines(path)) {
      if (type !== "token_usage_record") continue;
      const { thread_id, thread_token_usage } = fieldsOf(payload);
      const total = numberOf(fieldsOf(thread_token_usage).total_tokens);
      if (total !== null) threads.set(textOf(thread_id), total);
    }
  }
  return { tokens: totalOf(threads.values()), problem: null };
}
