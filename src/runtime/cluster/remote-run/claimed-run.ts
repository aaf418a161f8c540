import { setTimeout as wait } from "node:timers/promises";
import type { z } from "zod";
import { openDoor } from "./door-connection.ts";
import type { DoorAddress, DoorConnection, DoorRequest } from "./door-connection.ts";
import { createPauses, type createLease } from "./lease.ts";

/** A run that holds its claim, for code that sends requests to the scheduler on its behalf. */
export interface ClaimedRun {
  readonly address: DoorAddress;
  /** Secret: every request carries it. */
  readonly token: string;
  readonly leaseMs: number;
  readonly lease: ReturnType<typeof createLease>;
  /** Ends all requests. */
  readonly signal: AbortSignal;
}

/**
 * Works by one connection after another until the scheduler no longer knows the run (true), or the run's `signal` aborts
 * (false). `work` resolves to whether the scheduler no longer knows the run. Never rejects: the lease ends a run without
 * a scheduler.
 */
export async function byConnections(
  run: ClaimedRun,
  work: (connection: DoorConnection) => Promise<boolean>,
  ready: () => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  const pauses = createPauses(run.leaseMs / 10);
  while (!run.signal.aborted) {
    await ready();
    try {
      using connection = await openDoor(run.address, run.signal);
      if (await work(connection)) return true;
      pauses.reset();
    } catch {
      // The scheduler is away or the connection broke.
    }
    // Also after a connection that ended at once: a loop without a pause would burden the scheduler.
    await pauses.next(run.signal);
  }
  return false;
}

/** Null if the scheduler does not know the run. Rejects without a usable answer. */
export async function askScheduler<T>(
  connection: DoorConnection,
  { token, lease, signal }: ClaimedRun,
  request: Omit<DoorRequest, "bearer" | "signal">,
  schema: z.ZodType<T>,
): Promise<T | null> {
  const sentAt = performance.now();
  const { status, body } = await connection.request({ ...request, bearer: token, signal });
  if (status === 401) return null;
  if (status !== 200) throw new Error(`the scheduler answered with status ${status}`);
  const answer = schema.parse(body);
  lease.renew(sentAt);
  return answer;
}

/** Waits until `ms` after a moment of the monotonic clock, or until the run's end. */
export async function pace(since: number, ms: number, { signal }: ClaimedRun): Promise<void> {
  const pauseMs = ms - (performance.now() - since);
  await wait(Math.max(0, pauseMs), undefined, { signal }).catch(() => undefined);
}
