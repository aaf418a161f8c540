import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import type { RunPlace } from "../../contracts/run-place.ts";
import { killRun, signalGroup } from "../end-processes.ts";
import { findIsolation } from "./isolation.ts";
import type { Isolation } from "./isolation.ts";
import type { WarmOrder } from "./keeper-order.ts";
import { ownVariables, startProcess } from "./start-process.ts";

/** A run's process that was started before there was a run for it: it waits on its input for where it is to work. */
export interface Ahead {
  readonly child: ChildProcess;
  readonly isolation: Isolation;
  /** What it carries instead of an instance's name. */
  readonly mark: string;
}

/** Starts it in `/`, with nothing in its environment that is any agent's. */
export async function startAhead(
  { instanceId: mark, program, env }: WarmOrder,
  own: NodeJS.ProcessEnv,
): Promise<Ahead> {
  const isolation = await findIsolation(own);
  const variables = { ...ownVariables(own), ...env };
  const child = startProcess(isolation.confine(program), { cwd: "/", env: variables });
  // One that could not be started is as one that ended.
  child.on("error", () => undefined);
  return { child, isolation, mark };
}

/** What waits answers at once, unless it is still loading; one that doesn't in this time is given up, in ms. */
const answerMs = 5000;

/**
 * Tells it where to work. True once it answered: before, nobody knows whether it lives. False when it ended, or when
 * `asked` is settled first; then it is ended.
 */
export async function placeAhead(ahead: Ahead, place: RunPlace, asked: Promise<void>) {
  const { stdin, stdout } = ahead.child;
  const given = new AbortController();
  const late = wait(answerMs, false, { signal: given.signal }).catch(() => false);
  const answered = new Promise<boolean>((resolve) => {
    stdout?.once("data", () => {
      stdout.pause();
      resolve(true);
    });
  });
  stdin?.on("error", () => undefined).write(`${JSON.stringify(place)}\n`);
  const no = Promise.race([endOf(ahead), asked]).then(() => false);
  const isThere = await Promise.race([answered, no, late]);
  given.abort();
  if (!isThere) await endAhead(ahead);
  return isThere;
}

/** Whether it lives, as far as is known. */
function isWaiting({ child }: Ahead): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Resolves when it ends. */
export function endOf(ahead: Ahead): Promise<void> {
  const { child } = ahead;
  return new Promise((resolve) => {
    if (!isWaiting(ahead)) return resolve();
    child.once("exit", () => resolve()).once("error", () => resolve());
  });
}

/** Ends it, with all that it may have started. */
export async function endAhead(ahead: Ahead): Promise<void> {
  if (isWaiting(ahead) && ahead.child.pid !== undefined) signalGroup(ahead.child.pid, "SIGKILL");
  await killRun(ahead.mark);
}
