import { jobRedactor } from "../../../foundation/credentials/job-redactor.ts";
import { claimStdout } from "../../../runtime/harness/message-writer.ts";
import { runJob } from "../../../runtime/harness/run-job.ts";
import { takeAssignment } from "../../../runtime/harness/prewarm.ts";
import { fillCompileCache, warmUp } from "../../../runtime/harness/prewarm.ts";
import { startScriptedModel } from "../../../features/models/scripted.ts";

/**
 * One run of the job on standard input, in this process; resolves to its exit code. A process that was started ahead
 * (AL_WARM) loads what it will need, and waits for where its run is. The build of an image has no run, and fills the
 * image's compile cache (AL_FILL_CACHE).
 */
export async function runProcess(): Promise<number> {
  if (process.env.AL_FILL_CACHE !== undefined) {
    await fillCompileCache(startScriptedModel);
    return 0;
  }
  const output = claimStdout();
  if (process.env.AL_WARM !== undefined) {
    const placed = new AbortController();
    const loaded = warmUp(startScriptedModel, placed.signal);
    if (!(await takeAssignment(process.stdin))) return 0;
    // The answer that what keeps the run waits for.
    output.write("\n");
    placed.abort();
    await loaded;
  }
  return runJob({
    input: process.stdin,
    output,
    env: process.env,
    signal: askedToEnd(),
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
