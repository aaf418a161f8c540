import { fileURLToPath } from "node:url";
import { jobRedactor } from "../../src/credentials/job-redactor.ts";
import { claimStdout } from "../../src/harness/claim-stdout.ts";
import { runJob } from "../../src/harness/run-job.ts";
import { startScriptedModel } from "../../src/models/scripted.ts";

/** What `al _run-agent` does, started from source: one run of the job on standard input. */
const al = fileURLToPath(new URL("../../src/cli/al.ts", import.meta.url));
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());

process.exit(
  await runJob({
    input: process.stdin,
    output: claimStdout(),
    env: process.env,
    signal: stop.signal,
    startScripted: startScriptedModel,
    agentProgram: [process.execPath, al, "_agent"],
    redactorFor: jobRedactor,
  }),
);
