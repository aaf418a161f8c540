import type { IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { hasCode, messageOf } from "../../../foundation/errors.ts";

/** The run's way to the scheduler. */
export interface RunSocket {
  /** Path as this process sees it. */
  readonly socket: string;
  readonly token: string;
}

/** For how long a request waits for a scheduler that is away, in pauses: 60 s, without the time of a frozen container. */
const pauses = { count: 240, ms: 250 };

/** Errors of a scheduler that is away, that went while it was asked, or whose queue of connections is full. */
const awayCodes = ["ECONNREFUSED", "ENOENT", "ECONNRESET", "EPIPE", "EAGAIN"];

/**
 * Makes a request to the scheduler again while it is away: `attempt` resolves to null, or rejects with one of the codes
 * of that. Null when the client hung up before an answer. Rejects when the scheduler stays away, and at once for an
 * error that waiting does not change.
 */
export async function repeatWhileAway<T>(
  { socket }: RunSocket,
  signal: AbortSignal,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  let last: unknown = null;
  for (let count = 0; count < pauses.count; count += 1) {
    if (signal.aborted) return null;
    try {
      const answer = await attempt();
      if (answer !== null) return answer;
    } catch (error) {
      if (!hasCode(error, ...awayCodes)) throw unusable(socket, error);
      last = error;
    }
    await wait(pauses.ms, undefined, { signal }).catch(() => undefined);
  }
  const waitedSeconds = (pauses.count * pauses.ms) / 1000;
  const text = `the scheduler did not come back within ${waitedSeconds} s`;
  throw new Error(text, { cause: last });
}

function unusable(socket: string, cause: unknown): Error {
  const text = `the run socket ${socket} gave no usable answer: ${messageOf(cause)}`;
  return new Error(text, { cause });
}

/** The answer; null when it is that the scheduler is away. */
export function unlessAway(answer: IncomingMessage): IncomingMessage | null {
  if (!isAway(answer)) return answer;
  answer.resume();
  return null;
}

/** The scheduler's own word that it is starting or stopping; a provider's 503 has another type. */
export function isAway({ statusCode, headers }: IncomingMessage): boolean {
  return (
    statusCode === 503 && (headers["content-type"] ?? "").startsWith("application/problem+json")
  );
}
