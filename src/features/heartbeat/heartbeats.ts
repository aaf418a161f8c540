import {
  concat,
  defer,
  EMPTY,
  exhaustMap,
  ignoreElements,
  merge,
  NEVER,
  race,
  takeUntil,
  timer,
} from "rxjs";
import type { Observable } from "rxjs";
import { setTimeout as wait } from "node:timers/promises";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { durationText } from "../../../streams/duration-text.ts";
import { createSendRequest } from "../../foundation/contracts/outgoing-request.ts";
import { rateLimitedWarnings } from "../../foundation/contracts/rate-limited-warnings.ts";
import { messageOf } from "../../foundation/errors.ts";
import { createPinger, pingOf } from "./pings.ts";

/** How long a scheduler that stops waits for the answers of monitors, in ms. */
const lastPingsMs = 2_000;

export type Heartbeats = ReturnType<typeof createHeartbeats>;

/** Pings the monitors of the project, while the scheduler is healthy, and of its agents. */
export function createHeartbeats(context: SchedulerContext) {
  const { onDemand, env, inputs, status } = context;
  const now = Date.now;
  const pinger = createPinger({
    send: createSendRequest({ proxyEnv: env }),
    warn: context.warn,
    now,
  });
  const beat$ = beats(context, (lagMs, url) =>
    pinger.ping("the project", url, { type: "well", ms: lagMs }),
  );
  return {
    /** Takes events without secrets. */
    onEvent: (event: RunEvent): void => {
      // Monitors don't wait for runs by hand without a scheduler.
      if (onDemand) return;
      const url = status.agent(event.agent)?.config?.heartbeat ?? null;
      const ping = url === null ? null : pingOf(event);
      if (url !== null && ping !== null) pinger.ping(`agent ${event.agent}`, url, ping);
    },
    /** Pings until `over$`; completes when the last pings are answered, or after some time. */
    until: (over$: Observable<unknown>): Observable<never> => {
      if (onDemand) return EMPTY;
      return concat(
        merge(beat$.pipe(takeUntil(inputs.stopping$)), NEVER).pipe(takeUntil(over$)),
        defer(() => race(pinger.idle(), timer(lastPingsMs))).pipe(ignoreElements()),
      );
    },
  };
}

/**
 * Calls `beat` for the project's monitor once a minute while the scheduler is healthy: without a ping the monitor raises
 * the alarm. The first check waits, because a start with a thousand agents keeps the loop busy.
 */
export function beats(
  { project$, store, stopping, status, ...context }: SchedulerContext,
  beat: (lagMs: number, url: string) => void,
  { firstMs = 10_000, everyMs = 60_000, lag = loopLag } = {},
): Observable<never> {
  const warn = rateLimitedWarnings(context.warn, Date.now);
  const write = async (): Promise<void> => {
    // A beat recorded after the stop would count as a death.
    if (stopping.phase() !== "draining") await store.settings.recordAlive(Date.now());
  };
  const check = async (): Promise<void> => {
    const url = project$.value.heartbeat;
    if (url === null) return;
    const lagMs = await lag();
    const problem =
      lagProblem(lagMs) ?? (await storeProblem(write)) ?? overdue(status.agents(), Date.now());
    if (problem === null) return beat(lagMs, url);
    warn(problem.about, `no heartbeat is sent while the scheduler is unhealthy: ${problem.text}`);
  };
  return timer(firstMs, everyMs).pipe(exhaustMap(check), ignoreElements());
}

interface HeartbeatProblem {
  readonly about: "loop" | "store" | "cron";
  readonly text: string;
}

/** The event loop may be this late, in ms: a page or a delivery that waits longer seems to be lost. */
const maxLagMs = 1_000;
/** A tick may be this late, in ms: the clock of all schedules sleeps as long before it notices that the time was set. */
const maxOverdueMs = 30_000;

/** Whether the event loop responds. */
export function lagProblem(lagMs: number): HeartbeatProblem | null {
  if (lagMs <= maxLagMs) return null;
  return { about: "loop", text: `its event loop is late by ${durationText(lagMs)}` };
}

/** Whether the store takes writes. */
export async function storeProblem(write: () => Promise<void>): Promise<HeartbeatProblem | null> {
  try {
    await write();
    return null;
  } catch (error) {
    return { about: "store", text: `its store accepts no writes: ${messageOf(error)}` };
  }
}

/** Whether schedules are on time; `now` is epoch ms. */
export function overdue(
  agents: Iterable<Pick<AgentRecord, "name" | "nextRunAt">>,
  now: number,
): HeartbeatProblem | null {
  const latest = now - maxOverdueMs;
  const late = [...agents].filter(({ nextRunAt }) => nextRunAt !== null && nextRunAt < latest);
  const [first] = late;
  if (first === undefined) return null;
  const others = late.length === 1 ? "" : ` and ${late.length - 1} more`;
  return { about: "cron", text: `the schedule of ${first.name}${others} is overdue` };
}

const lagTimers = 5;
const lagTimerMs = 100;

/** How late timers are, in ms: the latest of a few, one after another. */
export async function loopLag(): Promise<number> {
  let lagMs = 0;
  for (let count = 0; count < lagTimers; count += 1) {
    const from = performance.now();
    await wait(lagTimerMs);
    lagMs = Math.max(lagMs, performance.now() - from - lagTimerMs);
  }
  return lagMs;
}
