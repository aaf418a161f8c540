import { jobRedactor } from "../credentials/job-redactor.ts";
import { claimStdout } from "../harness/claim-stdout.ts";
import { runJob } from "../harness/run-job.ts";
import { startScriptedModel } from "../models/scripted.ts";

/** One run of the job on standard input, in this process; resolves to its exit code. */
export function runProcess(): Promise<number> {
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
