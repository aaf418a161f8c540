import { Command } from "commander";
import { watchPipes } from "../output.ts";

/**
 * `al _run-agent <agent>`: one run, started by the scheduler. Not for people. A run's process has its mark in its
 * environment and takes the job on standard input. Without the mark this is what the scheduler starts, through sudo:
 * it keeps such a process.
 */
export function runAgentCommand(): Command {
  return new Command("_run-agent").argument("<agent>").action(async () => {
    // Both meet a closed output themselves, in their own order.
    watchPipes(() => undefined);
    process.exitCode = await (process.env.AL_INSTANCE === undefined ? keep() : run());
  });
}

async function keep(): Promise<number> {
  const { keeper } = await import("../../runners/host-user/keeper.ts");
  return keeper(process.stdin, process.env);
}

async function run(): Promise<number> {
  const { claimStdout } = await import("../../harness/claim-stdout.ts");
  const { jobRedactor } = await import("../../credentials/job-redactor.ts");
  const { runJob } = await import("../../harness/run-job.ts");
  const { startScriptedModel } = await import("../../models/scripted.ts");
  return runJob({
    input: process.stdin,
    output: claimStdout(),
    env: process.env,
    signal: askedToEnd(),
    startScripted: startScriptedModel,
    agentProgram: [process.execPath, process.argv[1] ?? "al", "_agent"],
    redactorFor: jobRedactor,
  });
}

/** Aborts on SIGTERM. The scheduler decides when a run ends: Ctrl-C is meant for it, not for its runs. */
function askedToEnd(): AbortSignal {
  const asked = new AbortController();
  // Never `once`: libraries end the process when they find themselves the only ones left who listen.
  process.on("SIGTERM", () => asked.abort());
  process.on("SIGINT", () => undefined);
  return asked.signal;
}
