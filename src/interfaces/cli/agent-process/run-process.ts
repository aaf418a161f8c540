import { jobRedactor } from "../../../foundation/credentials/redactor.ts";
import { claimStdout } from "../../../runtime/harness/message-writer.ts";
import { runJob } from "../../../runtime/harness/run-job.ts";
import { fillCompileCache } from "../../../runtime/harness/fill-compile-cache.ts";

/**
 * One run of the job on standard input, in this process; resolves to its exit code. The build of an image has no run:
 * with AL_FILL_CACHE it fills the image's compile cache.
 */
export async function runProcess(): Promise<number> {
  if (process.env.AL_FILL_CACHE !== undefined) {
    // Loaded only by the build of an image.
    const { startScriptedModel } = await import("../../../features/models/scripted.ts");
    await fillCompileCache(startScriptedModel);
    return 0;
  }
  return runJob({
    input: process.stdin,
    output: claimStdout(),
    env: process.env,
    signal: askedToEnd(),
    agentProgram: [process.execPath, process.argv[1] ?? "al", "_agent"],
    redactorFor: jobRedactor,
  });
}

/** Aborts on SIGTERM. The scheduler decides when a run ends: Ctrl-C is meant for it, not for its runs. */
function askedToEnd(): AbortSignal {
  const asked = new AbortController();
  // Never `once`: some libraries end the process if they are its only listeners.
  process.on("SIGTERM", () => asked.abort());
  process.on("SIGINT", () => undefined);
  return asked.signal;
}
