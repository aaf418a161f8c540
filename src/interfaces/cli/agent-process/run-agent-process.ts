import { flushPipes, outlivePipes } from "../terminal/pipes.ts";

/**
 * `al _run-agent <agent> --project <dir>`: one run, started by the scheduler. Not for people. A run's process has its
 * mark in its environment and takes the job on standard input. Without the mark this is the supervisor that the scheduler starts,
 * through sudo: it keeps such a process. The arguments are for sudo's rule and for lists of processes.
 */
export async function runAgentProcess(): Promise<void> {
  // The run's process and its supervisor handle a closed output themselves, each in its own order.
  outlivePipes();
  process.exitCode = await (process.env.AL_INSTANCE === undefined ? keep() : run());
  await flushPipes();
  // Handles that a library left open must not keep a finished run from ending.
  process.exit();
}

async function keep(): Promise<number> {
  const { supervisor } = await import("../../../runtime/runners/host-user/supervisor.ts");
  return supervisor(process.stdin, process.env);
}

async function run(): Promise<number> {
  const { runProcess } = await import("./run-process.ts");
  return runProcess();
}
