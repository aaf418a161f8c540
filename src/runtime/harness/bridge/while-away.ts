import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { hasCode, messageOf } from "../../../foundation/errors.ts";

/** The run's socket to the scheduler, and its token. */
export interface RunSocket {
  /** Path as this process sees it. */
  readonly socket: string;
  readonly token: string;
}

/** How long a request waits for a scheduler that is down, in pauses: two minutes, without those of a frozen container. */
const maxPauses = 120;

/** The length of a pause in ms: short at first, then a second, so that a scheduler that fails is asked less often. */
function pauseMs(count: number): number {
  // Runs that lost the scheduler at the same moment must not all retry at the same moment.
  return Math.min(250 * 2 ** count, 1_000) * (0.75 + Math.random() / 2);
}

/** Error codes if the scheduler is down, stops during a request, or has a full queue of connections. */
const awayCodes = ["ECONNREFUSED", "ENOENT", "ECONNRESET", "EPIPE", "EAGAIN"];

/**
 * Repeats a request while the scheduler is down: while `attempt` resolves to null or rejects with one of `awayCodes`.
 * Null if the client hung up before an answer. Rejects if the scheduler stays down, and at once for an error that
 * waiting doesn't fix.
 */
export async function repeatWhileAway<T>(
  { socket }: RunSocket,
  signal: AbortSignal,
  attempt: () => Promise<T | null>,
  pauses = maxPauses,
): Promise<T | null> {
  let last: unknown = null;
  let waitedMs = 0;
  for (let count = 0; count < pauses; count += 1) {
    if (signal.aborted) return null;
    try {
      const answer = await attempt();
      if (answer !== null) return answer;
    } catch (error) {
      if (!hasCode(error, ...awayCodes)) throw unusable(socket, error);
      last = error;
    }
    const ms = pauseMs(count);
    await wait(ms, undefined, { signal }).catch(() => undefined);
    waitedMs += ms;
  }
  throw new Error(`the scheduler did not come back within ${Math.ceil(waitedMs / 1000)} s`, {
    cause: last,
  });
}

function unusable(socket: string, cause: unknown): Error {
  return new Error(`the run socket ${socket} gave no usable answer: ${messageOf(cause)}`, {
    cause,
  });
}

/** A connection to the scheduler; null if the client hung up before it came back. */
export function connectionTo(runSocket: RunSocket, signal: AbortSignal): Promise<Socket | null> {
  return repeatWhileAway(runSocket, signal, async () => {
    // One side of a tunnel may end before the other.
    const socket = connect({ path: runSocket.socket, allowHalfOpen: true });
    await once(socket, "connect", { signal }).catch((error: unknown) => {
      socket.destroy();
      throw error;
    });
    return socket;
  });
}
