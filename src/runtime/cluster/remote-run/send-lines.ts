import { linesAnswerSchema, remotePaths } from "../../wire/remote-protocol.ts";
import { askScheduler, byConnections, pace, type ClaimedRun } from "./claimed-run.ts";
import type { DoorConnection } from "./door-connection.ts";
import type { OutgoingLines } from "./outgoing-lines.ts";

const longestAnswerMs = 30_000;
/** Time between two requests, in ms: a run that writes all the time sends larger pieces. */
const paceMs = 50;
/** Delay before lines are resent that the scheduler accepted and does not have in its logs, in ms. */
const againMs = 500;

interface Sender {
  readonly lines: OutgoingLines;
  readonly run: ClaimedRun;
  /** The scheduler that has the state of this run; null before the first answer. */
  scheduler: string | null;
}

/** Sends a run's lines, one request at a time, as `byConnections` does its work. */
export function sendLines(lines: OutgoingLines, run: ClaimedRun): Promise<boolean> {
  const sender: Sender = { lines, run, scheduler: null };
  const ready = () => somethingToSend(sender);
  return byConnections(run, (connection) => sendBy(connection, sender), ready);
}

/** Sends over one connection to one scheduler; true if it no longer knows the run. */
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
    await pace(startedAt, isStuck ? againMs : paceMs, run);
    await somethingToSend(sender);
  }
  return false;
}

/**
 * Sends a new scheduler the state of earlier lines, which it has only in its logs, before any later line. False if it
 * does not know the run.
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

function post(connection: DoorConnection, { run }: Sender, text: string) {
  const body = { type: "application/x-ndjson", text };
  const timeoutMs = Math.min(longestAnswerMs, run.leaseMs / 3);
  const request = { method: "POST", path: remotePaths.lines, body, timeoutMs } as const;
  return askScheduler(connection, run, request, linesAnswerSchema);
}

/**
 * Resolves when a request is needed, or a quarter of the lease passed without an answer: then an empty request shows
 * that the run lives.
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
