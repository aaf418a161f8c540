import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { aJob, aModel } from "../jobs.ts";
import type { JobOptions } from "../jobs.ts";
import type { HostedModel } from "../model-host.ts";
import { startRun } from "../run-entry.ts";
import { standIn } from "./stand-in.ts";
import type { Behaviour } from "./stand-in.ts";

const vendors = { claude: "anthropic", codex: "openai", gemini: "google" } as const;
export type Program = keyof typeof vendors;

function cliModel(program: Program, model: Partial<HostedModel> = {}): HostedModel {
  return aModel("main", "", { provider: vendors[program], baseUrl: null, ...model });
}

/** The process of a run whose CLI is a stand-in, in a working directory of its own. */
export async function startPlay(
  program: Program,
  behaviour: Behaviour,
  model: Partial<HostedModel> = {},
  job: JobOptions = {},
) {
  const dir = await mkdtemp(join(tmpdir(), "al-cli-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const workDir = await mkdtemp(join(dir, "work-"));
  const cli = await standIn(dir, program, behaviour);
  const harness = { type: "llm-cli", command: program } as const;
  const whole = aJob(workDir, { harness, models: [cliModel(program, model)], ...job });
  return {
    cli,
    /** A file that the stand-in left beside its working directory. */
    file: (name: string) => readFile(join(dir, name), "utf8"),
    ...startRun(whole, { PATH: cli.path }),
  };
}
