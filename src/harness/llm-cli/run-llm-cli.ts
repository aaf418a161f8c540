import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JobModel } from "../../contracts/job.ts";
import type { Harness, Session } from "../harness.ts";
import { runProgram } from "../run-program.ts";
import { storyOf } from "../story.ts";
import { systemPrompt } from "../system-prompt.ts";
import { cliFor } from "./clis.ts";
import type { CliCommand, CliResult, LlmCli } from "./llm-cli.ts";
import { keyFor } from "./model-key.ts";
import { readStream } from "./read-stream.ts";
import { sessionError } from "./session-error.ts";

/** One message may hold the whole output of a tool, pictures included. */
const maxLineBytes = 8 * 1024 * 1024;

/**
 * Runs the session in the external CLI that `[harness].command` names, with the first model only. The key is in
 * that process's environment and nowhere else; whether it went well is what the CLI itself says at its end.
 */
export const runLlmCli: Harness = async (session) => {
  const { job, emit, signal } = session;
  const [model] = job.models;
  if (model === undefined) throw new Error("the job has no model");
  const cli = cliFor(job.harness.command);
  const story = storyOf(emit);
  const { key, warning } = keyFor(model, cli);
  if (warning !== null) story.note(40, warning);
  const command = await prepared(cli, model, key, session);
  story.note(30, `session starts in ${cli.program} with model "${model.name}" (${model.model})`);
  const reader = cli.reader(story);
  const stream = readStream(reader, emit);
  const end = await runProgram(job.harness.command, command.args, {
    cwd: job.workDir,
    env: environment(session.commandEnv, command.env),
    timeoutMs: null,
    signal,
    onLine: stream.onLine,
    maxLineBytes,
    input: command.input,
    endsAll: true,
  });
  const result = reader.result();
  const usage = usageOf(result);
  const { tokens, costUsd } = usage;
  if (tokens !== null && tokens > 0) story.used(model.name, { tokens, costUsd });
  const outcome = { end, result, lastLines: stream.lastLines() };
  const error = sessionError(outcome, cli, model.name, session);
  return { error, usage: { model: model.name, ...usage } };
};

/** Writes what the CLI reads from files, for its own user's eyes only. */
async function prepared(
  cli: LlmCli,
  model: JobModel,
  key: string | null,
  { job, prompt }: Session,
): Promise<CliCommand> {
  const { workDir, instructions, title } = job;
  const configDir = join(workDir, ".llm-cli");
  const systemPromptFile = join(configDir, "system-prompt.md");
  const command = cli.command({ model, key, prompt, systemPromptFile, configDir, workDir });
  const files = { "system-prompt.md": systemPrompt(instructions, title), ...command.files };
  for (const [name, text] of Object.entries(files)) {
    const path = join(configDir, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600 });
  }
  return command;
}

function environment(
  commandEnv: Readonly<Record<string, string>>,
  own: CliCommand["env"],
): Record<string, string> {
  const entries = Object.entries({ ...commandEnv, ...own });
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== null),
  );
}

function usageOf(result: CliResult | null) {
  const { tokens = null, costUsd = null, turns = null } = result ?? {};
  return { tokens, costUsd, turns };
}
