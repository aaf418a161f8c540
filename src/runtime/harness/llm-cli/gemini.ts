import { join } from "node:path";
import { glob } from "node:fs/promises";
import { unversionedUrl } from "../../../foundation/contracts/base-url.ts";
import { readGemini } from "./gemini-stream.ts";
import type { CliCommand, CliRequest, LlmCli } from "./llm-cli.ts";
import { retriesOf } from "../retries.ts";
import { answerProblems } from "./llm-cli.ts";
import { fieldsOf, textOf } from "./fields.ts";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Fields } from "./fields.ts";

/** Gemini CLI. Options, settings and stream as its version 0.61 has them (`gemini --help`, `-o stream-json`). */
export const gemini: LlmCli = {
  program: "gemini",
  provider: "google",
  api: "google-generative-ai",
  install: "npm install -g @google/gemini-cli",
  refusesRoot: false,
  firstRequest: { input: 8_200, output: 9_216 },
  command,
  reader: readGemini,
  record: answerProblem,
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
      GEMINI_EXP: join(configDir, experimentsFile),
    },
    input: prompt,
    files: {
      ".gemini/settings.json": JSON.stringify(settings(retriesOf(model), configDir)),
      [experimentsFile]: JSON.stringify(experiments(model)),
    },
  };
}

const experimentsFile = "experiments.json";

/** As long as the scheduler waits for a provider. */
const longestSilenceSeconds = 900;

/** By default it waits a minute for the head of an answer; this flag is its only setting for that. */
function experiments({ timeoutSeconds }: CliRequest["model"]) {
  const seconds = Math.ceil(timeoutSeconds ?? longestSilenceSeconds);
  return { flags: [{ flagId: 45_773_134, intValue: String(seconds) }], experimentIds: [] };
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

/** By `finish_reasons` of the event `gemini_cli.api_response`, see "Observability with OpenTelemetry" of its manual. */
const problems: Partial<Record<string, string>> = {
  length: answerProblems.cut,
  content_filter: answerProblems.filtered,
};

/** Why the session's own last answer is not whole, by its telemetry: its stream does not have that. */
async function answerProblem(configDir: string): Promise<string | null> {
  let last = "";
  // As a pattern, so that a file that is not there is none.
  for await (const path of glob(telemetryFile(configDir))) {
    for await (const { attributes } of indentedObjects(path)) {
      const { "event.name": name, role, finish_reasons: reasons } = fieldsOf(attributes);
      if (name !== "gemini_cli.api_response" || role !== "main") continue;
      last = Array.isArray(reasons) ? textOf(reasons.at(-1)) : "";
    }
  }
  return problems[last] ?? null;
}

/** The objects of a file of JSON objects that are indented, so that only their own braces begin a line. */
async function* indentedObjects(path: string): AsyncGenerator<Fields> {
  let lines: string[] = [];
  for await (const line of linesOf(path)) {
    if (line === "{") lines = [];
    lines.push(line);
    if (line !== "}") continue;
    const value = parsed(lines.join("\n"));
    if (value !== undefined) yield fieldsOf(value);
  }
}

function linesOf(path: string) {
  return createInterface({ input: createReadStream(path), crlfDelay: Infinity });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
