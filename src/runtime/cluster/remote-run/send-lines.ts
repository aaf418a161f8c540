import { setTimeout as wait } from "node:timers/promises";
import { linesAnswerSchema, remotePaths } from "../../../foundation/contracts/remote-run.ts";
import type { LinesAnswer } from "../../../foundation/contracts/remote-run.ts";
import type { ClaimedRun } from "./claimed-run.ts";
import { openDoor } from "./door-connection.ts";
import type { DoorConnection } from "./door-connection.ts";
import type { OutgoingLines } from "./outgoing-lines.ts";
import { createPauses } from "./pauses.ts";

const longestAnswerMs = 30_000;
/** Between two requests, in ms: a run that writes all the time is sent in larger pieces. */
const paceMs = 50;
/** Until lines are sent again that the scheduler took and does not have in its logs, in ms. */
const againMs = 500;

interface Sender {
  readonly lines: OutgoingLines;
  readonly run: ClaimedRun;
  /** The one that has the state of this run; null before the first answer. */
  scheduler: string | null;
}

/**
 * Sends a run's lines, one request at a time, until the scheduler no longer knows the run (true), or the run's `signal`
 * aborts (false). Never rejects: it is the lease that ends a run without a scheduler.
 */
export async function sendLines(lines: OutgoingLines, run: ClaimedRun): Promise<boolean> {
  const pauses = createPauses(run.leaseMs / 10);
  const sender = { lines, run, scheduler: null };
  while (!run.signal.aborted) {
    await somethingToSend(sender);
    try {
      using connection = await openDoor(run.address, run.signal);
      if (await sendBy(connection, sender)) return true;
      pauses.reset();
    } catch {
      // The scheduler is away or the connection broke: what it does not have goes by the next one.
      await pauses.next(run.signal);
    }
  }
  return false;
}

/** Sends by one connection, at whose other end one scheduler is; true when it does not know the run. */
async function sendBy(connection: DoorConnection, sender: Sender): Promise<boolean> {
  const { lines, run } = sender;
  if (!(await sendState(connection, sender))) return true;
  while (!run.signal.aborted && connection.isOpen()) {
    const startedAt = performance.now();
    const text = lines.next();
    const answer = await post(connection, sender, text);
    if (answer === null) return true;
    const isNew = answer.scheduler !== sender.scheduler;
    sender.scheduler = answer.scheduler;
    const isStuck = !lines.acknowledge(answer.stored) && text !== "" && !isNew;
    const pauseMs = (isStuck ? againMs : paceMs) - (performance.now() - startedAt);
    await wait(Math.max(0, pauseMs), undefined, { signal: run.signal }).catch(() => undefined);
    await somethingToSend(sender);
  }
  return false;
}

/**
 * A scheduler that has the lines before in its logs alone gets the state before any line that came after it. False when
 * it does not know the run.
 */
async function sendState(connection: DoorConnection, sender: Sender): Promise<boolean> {
  const state = sender.lines.state();
  if (state.length === 0) return true;
  const answer = await post(connection, sender, "");
  if (answer === null) return false;
  if (answer.scheduler === sender.scheduler) return true;
  for (const text of state) {
    if ((await post(connection, sender, text)) === null) return false;
  }
  sender.scheduler = answer.scheduler;
  return true;
}

/** Null when the scheduler does not know the run. Rejects when there is no usable answer. */
async function post(
  connection: DoorConnection,
  { run: { token, leaseMs, lease, signal } }: Sender,
  text: string,
): Promise<LinesAnswer | null> {
  const sentAt = performance.now();
  const { status, body } = await connection.request({
    method: "POST",
    path: remotePaths.lines,
    bearer: token,
    body: { type: "application/x-ndjson", text },
    timeoutMs: Math.min(longestAnswerMs, leaseMs / 3),
    signal,
  });
  if (status === 401) return null;
  if (status !== 200) throw new Error(`the scheduler answered with status ${status}`);
  const answer = linesAnswerSchema.parse(body);
  lease.renew(sentAt);
  return answer;
}

/**
 * Resolves when the scheduler has to be asked, or a quarter of the lease passed without an answer: then an empty request shows that the
 * run lives.
 */
function somethingToSend({ lines, run }: Sender): Promise<void> {
  const { leaseMs, lease, signal } = run;
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const look = () => {
      clearTimeout(timer);
      const leftMs = leaseMs / 4 - lease.silentMs();
      if (!lines.isDue && leftMs > 0 && !signal.aborted) {
        timer = setTimeout(look, leftMs);
        return;
      }
      lines.removeListener(look);
      signal.removeEventListener("abort", look);
      resolve();
    };
    lines.addListener(look);
    signal.addEventListener("abort", look);
    look();
  });
}
