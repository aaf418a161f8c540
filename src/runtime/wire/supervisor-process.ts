import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { constants, getPriority, setPriority, userInfo } from "node:os";
import type { SupervisorOrder, Program } from "./supervisor-order.ts";

/** How the supervisor of a run is started. */
export interface SupervisorStart {
  /** `al _run-agent <agent> --project <dir>`, with absolute paths. */
  readonly program: Program;
  /** OS user name, or `$USER`. */
  readonly runAs: string;
  /** The whole environment. sudo drops all of it. */
  readonly env: Readonly<Record<string, string>>;
}

/** Whether `run_as` means the user that runs the scheduler, so that no sudo is needed. */
export function isOwnUser(runAs: string): boolean {
  return runAs === "$USER" || runAs === userInfo().username;
}

/** One name per user. */
export function userOf(runAs: string): string {
  return isOwnUser(runAs) ? "$USER" : runAs;
}

/** How long a process that ends or signals a run may take, in ms. */
const orderMs = 10_000;

/** How far the priority of runs is below the scheduler's, so that it answers fast however many of them start. */
const niceness = 5;

/**
 * Starts a supervisor, and with it its run, at a lower priority and in its own session. Its standard input is a pipe and
 * `logFd` its output. It starts in `/`, because the agent's user may not be able to enter the scheduler's directory.
 */
export function startSupervisor(start: SupervisorStart, logFd: number): ChildProcess {
  const child = spawnSupervisor(start, ["pipe", logFd, logFd]);
  if (child.pid !== undefined) lowerPriority(child.pid);
  return child;
}

/** Processes started by this one from now on inherit the priority. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // The process has ended, or sudo changed its user: a run with default priority is better than a failed one.
  }
}

/** Passes an order about a live run to the run's own user; resolves to the error text, or null on success. */
export async function sendOrder(
  start: SupervisorStart,
  order: SupervisorOrder,
): Promise<string | null> {
  const child = spawnSupervisor(start, ["pipe", "ignore", "pipe"]);
  let errors = "";
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => (errors = (errors + text).slice(-2000)));
  child.stdin?.on("error", () => undefined).end(`${JSON.stringify(order)}\n`);
  try {
    const signal = AbortSignal.timeout(orderMs);
    const [code] = (await once(child, "close", { signal })) as [number | null];
    return code === 0 ? null : errors.trim() || `it exited with code ${code ?? "none"}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function spawnSupervisor(
  { program, runAs, env }: SupervisorStart,
  stdio: StdioOptions,
): ChildProcess {
  const [file, args] = isOwnUser(runAs)
    ? [program.file, program.args]
    : ["sudo", ["-n", "-u", runAs, "--", program.file, ...program.args]];
  return spawn(file, args, { cwd: "/", env, detached: true, stdio });
}
