import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { spawn } from "node:child_process";
import type { RunPlace } from "../../../foundation/contracts/run-place.ts";
import { killRun, signalGroup } from "../end-processes.ts";
import { findIsolation, refusalOf } from "./isolation.ts";
import type { Isolation } from "./isolation.ts";
import type { PrewarmOrder, Program } from "./supervisor-order.ts";

/** A run's process that was started before there was a run for it: it waits on its input for where it is to work. */
export interface PrewarmedProcess {
  readonly child: ChildProcess;
  readonly isolation: Isolation;
  /** What it carries instead of an instance's name. */
  readonly mark: string;
}

/**
 * Starts it in `/`, with nothing in its environment that is any agent's. Rejects when it has to have a closed network
 * and can't.
 */
export async function startPrewarmed(
  { instanceId: mark, program, env, network }: PrewarmOrder,
  own: NodeJS.ProcessEnv,
): Promise<PrewarmedProcess> {
  const isolation = await findIsolation(own, network);
  const refusal = refusalOf(isolation, { network, mustIsolate: false });
  if (refusal !== null) throw new Error(refusal.reason);
  const variables = { ...ownVariables(own), ...env };
  const child = startProcess(isolation.confine(program), { cwd: "/", env: variables });
  // One that could not be started is as one that ended.
  child.on("error", () => undefined);
  return { child, isolation, mark };
}

/** A prewarmed process answers at once, unless it is still loading; one that doesn't in this time is ended, in ms. */
const answerMs = 5000;

/**
 * Sends it the place to work in. True once it answered: before, it is unknown whether it lives. False when it ended, or when
 * `asked` is settled first; then it is ended.
 */
export async function assignRun(
  prewarmed: PrewarmedProcess,
  place: RunPlace,
  asked: Promise<void>,
) {
  const { stdin, stdout } = prewarmed.child;
  const given = new AbortController();
  const late = wait(answerMs, false, { signal: given.signal }).catch(() => false);
  const answered = new Promise<boolean>((resolve) => {
    stdout?.once("data", () => {
      stdout.pause();
      resolve(true);
    });
  });
  stdin?.on("error", () => undefined).write(`${JSON.stringify(place)}\n`);
  const no = Promise.race([endOf(prewarmed), asked]).then(() => false);
  const isThere = await Promise.race([answered, no, late]);
  given.abort();
  if (!isThere) await endPrewarmed(prewarmed);
  return isThere;
}

/** Whether it lives, as far as is known. */
function isWaiting({ child }: PrewarmedProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Resolves when it ends. */
export function endOf(prewarmed: PrewarmedProcess): Promise<void> {
  const { child } = prewarmed;
  return new Promise((resolve) => {
    if (!isWaiting(prewarmed)) return resolve();
    child.once("exit", () => resolve()).once("error", () => resolve());
  });
}

/** Ends it, with all that it may have started. */
export async function endPrewarmed(prewarmed: PrewarmedProcess): Promise<void> {
  if (isWaiting(prewarmed) && prewarmed.child.pid !== undefined)
    signalGroup(prewarmed.child.pid, "SIGKILL");
  await killRun(prewarmed.mark);
}

/** Starts the process of a run in a session of its own. */
export function startProcess({ file, args }: Program, place: RunPlace): ChildProcess {
  return spawn(file, args, { ...place, detached: true, stdio: ["pipe", "pipe", "pipe"] });
}

/** What sudo sets for the user it changes to. */
export function ownVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const { PATH = "/usr/local/bin:/usr/bin:/bin", USER, LOGNAME = USER } = env;
  return { PATH, ...(USER === undefined ? {} : { USER }), ...(LOGNAME && { LOGNAME }) };
}
