import type { Story } from "../story.ts";
import { fieldsOf, sumOf, textOf } from "./fields.ts";
import type { Fields } from "./fields.ts";
import type { CliCommand, CliReader, CliRequest, CliResult, LlmCli } from "./llm-cli.ts";

/** Gemini CLI. Options, settings and stream as its version 0.61 has them (`gemini --help`, `-o stream-json`). */
export const gemini: LlmCli = {
  program: "gemini",
  provider: "google",
  install: "npm install -g @google/gemini-cli",
  command,
  reader,
};

function command({ model, key, prompt, systemPromptFile, configDir }: CliRequest): CliCommand {
  return {
    // Without `-p` and off a terminal it takes its prompt from standard input.
    args: ["-m", model.model, "--output-format", "stream-json", "--yolo", "--skip-trust"],
    env: {
      ...(key === null ? {} : { GEMINI_API_KEY: key }),
      ...(model.baseUrl === null ? {} : { GOOGLE_GEMINI_BASE_URL: model.baseUrl }),
      GEMINI_CLI_HOME: configDir,
      GEMINI_SYSTEM_MD: systemPromptFile,
    },
    input: prompt,
    files: { ".gemini/settings.json": JSON.stringify(settings) },
  };
}

const settings = {
  // It asks how to log in without this, and ends when nobody answers.
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
  // A GEMINI.md that lies in a folder above is no instruction of an agent's; one in its own folder is always read.
  context: { memoryBoundaryMarkers: [], includeDirectoryTree: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 1 },
};

function reader(story: Story): CliReader {
  let result: CliResult | null = null;
  let text = "";
  // It streams its answers in pieces; an answer is over when something else comes.
  const tellText = () => {
    story.said(text);
    text = "";
  };
  return {
    take: (event) => {
      if (event.type === "message" && event.role === "assistant") {
        text += textOf(event.content);
        if (event.delta !== true || text.length > maxHeldCharacters) tellText();
        return;
      }
      tellText();
      if (event.type === "tool_use") {
        story.toolCall(textOf(event.tool_id), textOf(event.tool_name), event.parameters);
      }
      if (event.type === "tool_result") tellToolResult(event, story);
      if (event.type === "error") story.note(40, textOf(event.message));
      if (event.type === "result") result = resultOf(event);
    },
    result: () => result,
  };
}

const maxHeldCharacters = 256 * 1024;

function tellToolResult(event: Fields, story: Story): void {
  const output = textOf(event.output) || textOf(fieldsOf(event.error).message);
  story.toolResult(textOf(event.tool_id), output, event.status === "error");
}

function resultOf(event: Fields): CliResult {
  const failed = event.status !== "success";
  return {
    error: failed ? failure(textOf(fieldsOf(event.error).message)) : null,
    tokens: sumOf(fieldsOf(event.stats), "total_tokens"),
    costUsd: null,
    turns: null,
  };
}

/** `[API Error: {"error":{"code":401,"message":"…"}}]`, as `401 {…}`, which is how providers' errors are read. */
function failure(message: string): string {
  const [, body] = /^\[API Error: ([\s\S]*)\](?:\n[\s\S]*)?$/.exec(message) ?? [];
  const status = /"code":\s*(\d{3})\b/.exec(body ?? "")?.[1];
  return [status, body ?? (message === "" ? "no reason given" : message)]
    .filter((part) => part !== undefined)
    .join(" ");
}
