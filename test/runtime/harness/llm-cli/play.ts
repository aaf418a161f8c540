import { mkdtemp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { aJob, aModel, type JobOptions } from "../jobs.ts";
import { failCall, type HostedModel } from "../model-host.ts";
import { runOf, startRun } from "../run-entry.ts";
import { standIn, type Behaviour } from "./stand-in.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

export const vendors = { claude: "anthropic", codex: "openai", gemini: "google" } as const;
export type Program = keyof typeof vendors;

function cliModel(program: Program, model: Partial<HostedModel> = {}): HostedModel {
  return aModel("main", "", { provider: vendors[program], baseUrl: null, ...model });
}

/** A run whose CLI is a stand-in, in a working directory of its own. */
export async function prepared(
  program: Program,
  behaviour: Behaviour,
  model: Partial<HostedModel> = {},
  job: JobOptions = {},
) {
  const dir = tempDir();
  const workDir = await mkdtemp(join(dir, "work-"));
  const cli = await standIn(dir, program, behaviour);
  const harness = { type: "llm-cli", command: program } as const;
  const given = aJob(workDir, { harness, models: [cliModel(program, model)], ...job });
  if (behaviour.failure && given.channel)
    failCall(given.channel.token, behaviour.failure, behaviour.failures);
  return {
    cli,
    /** A file that the stand-in left beside its working directory. */
    file: (name: string) => readFile(join(dir, name), "utf8"),
    workDir,
    job: given,
  };
}

/** Runs it to its end, in this process. */
export async function play(...play: Parameters<typeof prepared>) {
  const { job, cli, ...rest } = await prepared(...play);
  return { cli, ...rest, run: await runOf(job, { PATH: cli.path, AL_TEST_LEAK: "leaked" }) };
}

/** Starts its process. */
export async function startPlay(...play: Parameters<typeof prepared>) {
  const { job, cli, ...rest } = await prepared(...play);
  return { cli, ...rest, ...startRun(job, { PATH: cli.path }) };
}
