/**
 * Preloaded into a scheduler (`node --import`): notes the job of each run of an OS user in the file AL_JOBS_FILE, a line each,
 * so that a test has the socket and the token of a run, as a hostile run has them. In `<AL_JOBS_FILE>.turns`, a line each, how
 * much CPU time its event loop took without a turn for others, in ms, if that was much.
 */
import childProcess from "node:child_process";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const file = process.env.AL_JOBS_FILE ?? "";
const { spawn } = childProcess;

function noted(...args: Parameters<typeof spawn>) {
  const child = spawn(...args);
  const { stdin } = child;
  if (stdin === null || !args[1].includes("_run-agent")) return child;
  const end = stdin.end.bind(stdin) as (text: string) => typeof stdin;
  stdin.end = ((job: string) => {
    appendFileSync(file, job);
    return end(job);
  }) as typeof stdin.end;
  return child;
}

childProcess.spawn = noted as typeof spawn;
syncBuiltinESMExports();

const tickMs = 10;
let before = process.threadCpuUsage();
setInterval(() => {
  const now = process.threadCpuUsage();
  const ms = (now.user + now.system - before.user - before.system) / 1000;
  if (ms > 10 * tickMs) appendFileSync(`${file}.turns`, `${ms.toFixed(0)}\n`);
  before = now;
}, tickMs).unref();
