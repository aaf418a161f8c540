/**
 * Preloaded into a scheduler (`node --import`): notes the job of each run of an OS user in the file AL_JOBS_FILE, a line each.
 * So a test has the socket and the token of a run, as a hostile run has them.
 */
import childProcess from "node:child_process";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const file = process.env.AL_JOBS_FILE;
const { spawn } = childProcess;

function noted(...args: Parameters<typeof spawn>) {
  const child = spawn(...args);
  const { stdin } = child;
  if (stdin === null || file === undefined || !args[1].includes("_run-agent")) return child;
  const end = stdin.end.bind(stdin) as (text: string) => typeof stdin;
  stdin.end = ((job: string) => {
    appendFileSync(file, job);
    return end(job);
  }) as typeof stdin.end;
  return child;
}

childProcess.spawn = noted as typeof spawn;
syncBuiltinESMExports();
