import { join } from "node:path";
import { glob } from "node:fs/promises";
import { unversionedUrl } from "../../contracts/base-url.ts";
import { readGemini } from "./gemini-stream.ts";
import type { CliCommand, CliRequest, LlmCli, CliRecord } from "./llm-cli.ts";
import { retriesOf } from "../retries.ts";
import { answerProblems } from "./llm-cli.ts";
import { fieldsOf, numberOf, textOf, totalOf } from "./fields.ts";
import { indentedObjects, jsonLines } from "./json-files.ts";

/** Gemini CLI. Options, settings and stream as its version 0.61 has them (`gemini --help`, `-o stream-json`). */
export const gemini: LlmCli = {
  program: "gemini",
  provider: "google",
  api: "google-generative-ai",
  install: "npm install -g @google/gemini-cli",
  command,
  reader: readGemini,
  record: (configDir) => geminiRecord(configDir, telemetryFile(configDir)),
};

function telemetryFile(configDir: string): string {
  return join(configDir, "telemetry");
}

function command({
  model,
  baseUrl,
  key,
  prompt,
  systemPromptFile,
  configDir,
}: CliRequest): CliCommand {
  return {
    // Without `-p` and off a terminal it takes its prompt from standard input.
    args: ["-m", model.model, "--output-format", "stream-json", "--yolo", "--skip-trust"],
    env: {
      GEMINI_API_KEY: key,
      // It adds the version itself.
      GOOGLE_GEMINI_BASE_URL: unversionedUrl(baseUrl),
      GEMINI_CLI_HOME: configDir,
      GEMINI_SYSTEM_MD: systemPromptFile,
    },
    input: prompt,
    files: { ".gemini/settings.json": JSON.stringify(settings(retriesOf(model), configDir)) },
  };
}

/** It refuses to start with more. */
const mostAttempts = 10;

function settings(retries: number, configDir: string) {
  return {
    // It asks how to log in without this, and ends when there is no terminal to ask on.
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
    // Its stream has no reason why an answer ended, its telemetry has; this file is all that gets it.
    telemetry: {
      enabled: true,
      target: "local",
      outfile: telemetryFile(configDir),
      logPrompts: false,
    },
    // A GEMINI.md that lies in a folder above is no instruction of an agent's; one in its own folder is always read.
    context: { memoryBoundaryMarkers: [], includeDirectoryTree: false },
    general: {
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      maxAttempts: Math.min(retries + 1, mostAttempts),
    },
  };
}

/**
 * What Gemini CLI 0.61 wrote of a session beside its stream, which has tokens only at its end, and nothing of why an
 * answer ended: its chats, each answer as it came, and its telemetry, which a program that is killed doesn't finish.
 */
async function geminiRecord(home: string, telemetry: string): Promise<CliRecord> {
  const tokens = await tokensOf(join(home, ".gemini", "tmp", "*", "chats", "**", "*.jsonl"));
  return { tokens, problem: problems[await lastFinish(telemetry)] ?? null };
}

/** An answer is written again with its tool calls, under the same id. */
async function tokensOf(pattern: string): Promise<number | null> {
  const answers = new Map<string, number>();
  for await (const path of glob(pattern)) {
    for await (const { id, tokens } of jsonLines(path)) {
      const total = numberOf(fieldsOf(tokens).total);
      if (total !== null) answers.set(textOf(id), total);
    }
  }
  return totalOf(answers.values());
}

/** By `finish_reasons` of the event `gemini_cli.api_response`, see "Observability with OpenTelemetry" of its manual. */
const problems: Partial<Record<string, string>> = {
  length: answerProblems.cut,
  content_filter: answerProblems.filtered,
};

/** Why the last answer of the session itself ended; empty when that is unknown. */
async function lastFinish(telemetry: string): Promise<string> {
  let last = "";
  // As a pattern, so that a file that is not there is none.
  for await (const path of glob(telemetry)) {
    for await (const { attributes } of indentedObjects(path)) {
      const { "event.name": name, role, finish_reasons: reasons } = fieldsOf(attributes);
      if (name !== "gemini_cli.api_response" || role !== "main") continue;
      last = Array.isArray(reasons) ? textOf(reasons.at(-1)) : "";
    }
  }
  return last;
}
