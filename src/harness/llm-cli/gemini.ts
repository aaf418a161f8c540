import { join } from "node:path";
import { unversionedUrl } from "../../contracts/base-url.ts";
import { geminiRecord } from "./gemini-record.ts";
import { readGemini } from "./gemini-stream.ts";
import type { CliCommand, CliRequest, LlmCli } from "./llm-cli.ts";
import { retriesOf } from "../retries.ts";

/** Gemini CLI. Options, settings and stream as its version 0.61 has them (`gemini --help`, `-o stream-json`). */
export const gemini: LlmCli = {
  program: "gemini",
  provider: "google",
  install: "npm install -g @google/gemini-cli",
  command,
  reader: readGemini,
  record: (configDir) => geminiRecord(configDir, telemetryFile(configDir)),
};

function telemetryFile(configDir: string): string {
  return join(configDir, "telemetry");
}

function command({ model, key, prompt, systemPromptFile, configDir }: CliRequest): CliCommand {
  const headers = Object.entries(model.headers).map(([name, value]) => `${name}: ${value}`);
  return {
    // Without `-p` and off a terminal it takes its prompt from standard input.
    args: ["-m", model.model, "--output-format", "stream-json", "--yolo", "--skip-trust"],
    env: {
      ...(key === null ? {} : { GEMINI_API_KEY: key }),
      ...(model.baseUrl === null ? {} : { GOOGLE_GEMINI_BASE_URL: unversionedUrl(model.baseUrl) }),
      ...(headers.length === 0 ? {} : { GEMINI_CLI_CUSTOM_HEADERS: headers.join(", ") }),
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
