import { join } from "node:path";
import { glob } from "node:fs/promises";
import { longestTimerMs } from "../../../../streams/longest-timer.ts";
import { unversionedUrl } from "../../../foundation/contracts/model-defaults.ts";
import type { CliCommand, CliRequest, LlmCli, CliReader, CliResult } from "./llm-cli.ts";
import { retriesOf } from "../retry-policy.ts";
import { cliHeader } from "../../../foundation/contracts/model-gateway.ts";
import { answerProblems, ownTimeoutMs } from "./llm-cli.ts";
import { fieldsOf, textOf, sumOf, type Fields, reasonIn } from "./fields.ts";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { jsonOf } from "../../../foundation/contracts/json-size.ts";
import type { Transcript } from "../transcript.ts";

/** Gemini CLI. Options, settings and stream as its version 0.61 has them (`gemini --help`, `-o stream-json`). */
const noInput = "gemini  accepts no messages while it works: al kill ends the run";

export const gemini: LlmCli = {
  program: "gemini",
  provider: "google",
  api: "google-generative-ai",
  install: "npm install -g @google/gemini-cli",
  refuses: { steer: noInput, stop: noInput },
  refusesRoot: false,
  firstRequest: { input: 8_200, output: 9_216 },
  command,
  reader: readGemini,
  keptSession: { files: "*.jsonl", idOf: () => "latest" },
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
  workDir,
  mcp,
  resume,
}: CliRequest): CliCommand {
  return {
    // Without `-p` and without a terminal, Gemini CLI reads its prompt from standard input.
    args: [
      "-m",
      model.model,
      "--output-format",
      "stream-json",
      "--yolo",
      "--skip-trust",
      ...(resume === null ? [] : ["--resume", resume]),
    ],
    env: {
      GEMINI_API_KEY: key,
      GEMINI_CLI_CUSTOM_HEADERS: `${cliHeader}: 1`,
      // Gemini CLI appends the API version itself.
      GOOGLE_GEMINI_BASE_URL: unversionedUrl(baseUrl),
      GEMINI_CLI_HOME: configDir,
      GEMINI_SYSTEM_MD: systemPromptFile,
      GEMINI_EXP: join(configDir, experimentsFile),
    },
    input: prompt,
    files: {
      ".gemini/settings.json": JSON.stringify({
        ...settings(retriesOf(model), configDir),
        ...(mcp.length > 0 && { mcpServers: mcpSettings(mcp) }),
      }),
      [experimentsFile]: JSON.stringify(experiments(model)),
      // Names the folder of its sessions, which would have the name of the working directory.
      ".gemini/projects.json": JSON.stringify({ projects: { [workDir]: "run" } }),
    },
  };
}

/** A call may wait for a person; the scheduler bounds it. */
function mcpSettings(servers: CliRequest["mcp"]): object {
  const entries = servers.map(({ name, command, args, env }) => {
    return [name, { command, args, env, timeout: longestTimerMs, trust: true }] as const;
  });
  return Object.fromEntries(entries);
}

const experimentsFile = "experiments.json";

/** How long to wait for the head of an answer by default, in seconds: as long as the scheduler waits for a provider. */
const longestSilenceSeconds = 900;

/** Sets the timeout for the head of an answer, by default a minute; this flag is Gemini CLI's only setting for it. */
function experiments({ timeoutSeconds }: CliRequest["model"]) {
  const seconds = Math.ceil(ownTimeoutMs(timeoutSeconds ?? longestSilenceSeconds) / 1000);
  return { flags: [{ flagId: 45_773_134, intValue: String(seconds) }], experimentIds: [] };
}

/** Gemini CLI refuses to start with more attempts. */
const mostAttempts = 10;

function settings(retries: number, configDir: string) {
  return {
    // Without this, Gemini CLI asks how to log in, and exits if it has no terminal.
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
    // Only the telemetry has the finish reasons of answers; it is written to this local file only.
    telemetry: {
      enabled: true,
      target: "local",
      outfile: telemetryFile(configDir),
      logPrompts: false,
    },
    // A GEMINI.md in a parent folder must not instruct the agent; one in the working directory is always read.
    context: { memoryBoundaryMarkers: [], includeDirectoryTree: false },
    general: {
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      maxAttempts: Math.min(retries + 1, mostAttempts),
    },
  };
}

/** Problems of an answer by `finish_reasons` of the event `gemini_cli.api_response`, see "Observability with OpenTelemetry" of its manual. */
const problems: Partial<Record<string, string>> = {
  length: answerProblems.cut,
  content_filter: answerProblems.filtered,
};

/** Why the session's last answer is incomplete, from the telemetry, because the stream lacks the finish reason. */
async function answerProblem(configDir: string): Promise<string | null> {
  let last = "";
  // A glob, so that a missing file is skipped.
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
    const value = jsonOf(lines.join("\n"));
    if (value !== undefined) yield fieldsOf(value);
  }
}

function linesOf(path: string) {
  return createInterface({ input: createReadStream(path), crlfDelay: Infinity });
}

/** Reads the stream of Gemini CLI 0.61: `--output-format stream-json`. */
function readGemini(transcript: Transcript): CliReader {
  let result: CliResult | null = null;
  /** The last error; cleared when the session continues after it. */
  let lastError = "";
  let text = "";
  let hasCalled = false;
  // Gemini CLI streams answers in pieces; an answer ends when another event comes.
  const logText = () => {
    transcript.assistant(text);
    text = "";
  };
  return {
    take: (event) => {
      if (event.type === "message" && event.role === "assistant") {
        lastError = "";
        text += textOf(event.content);
        if (event.delta !== true || text.length > maxHeldCharacters) logText();
        return;
      }
      logText();
      if (event.type === "tool_use") {
        lastError = "";
        hasCalled = true;
        transcript.toolCall(textOf(event.tool_id), textOf(event.tool_name), event.parameters);
      }
      if (event.type === "tool_result") logToolResult(event, transcript);
      if (event.type === "error") {
        lastError = textOf(event.message);
        transcript.note(40, lastError);
      }
      if (event.type === "result") result = resultOf(event, lastError);
    },
    result: () => result,
    mayRestart: () => !hasCalled,
  };
}

const maxHeldCharacters = 256 * 1024;

function logToolResult(event: Fields, transcript: Transcript): void {
  const output = textOf(event.output) || textOf(fieldsOf(event.error).message);
  transcript.toolResult(textOf(event.tool_id), output, event.status === "error");
}

/**
 * A result without a reason has it in the error before. A session that Gemini CLI itself ended early, such as by its
 * detection of loops, has the status "success" after that error.
 */
function resultOf(event: Fields, lastError: string): CliResult {
  const failed = event.status !== "success" || lastError !== "";
  return {
    error: failed ? reasonIn(fieldsOf(event.error).message, lastError) : null,
    tokens: sumOf(fieldsOf(event.stats), "total_tokens"),
    costUsd: null,
    turns: null,
  };
}
