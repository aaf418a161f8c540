import { asyncScheduler, BehaviorSubject, share, skip } from "rxjs";
import { isoTime } from "../../../streams/iso-times.ts";
import { initialStatus, reduceStatus, snapshotOf } from "../../../streams/status/reduce-status.ts";
import type { StatusEvent } from "../../../streams/status/reduce-status.ts";
import { statusUpdates } from "../../../streams/status/status-updates.ts";
import { withEarlierRun } from "../../../streams/status/agent-record.ts";
import type { AgentRecord, EarlierRun } from "../../../streams/status/agent-record.ts";
import type { LockStatus, SchedulerStatus, StatusSnapshot } from "../../../streams/status/wire.ts";
import type { DaySpend } from "../../../streams/spending.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import type { Pause } from "../store/settings.ts";

export type StatusStore = ReturnType<typeof createStatusStore>;

export interface FindAgent {
  readonly agent: StatusStore["agent"];
}

/**
 * The only holder of the state; the status stream, the API and the command line read it. It starts with the scheduler and
 * the lines of earlier schedulers; `seed` has the known facts of an agent without a row.
 */
export function createStatusStore(
  scheduler: SchedulerStatus,
  seed: (agent: string) => Partial<AgentRecord>,
  earlier: readonly LogEntry[] = [],
) {
  const status$ = new BehaviorSubject(initialStatus(scheduler, earlier));
  let shown = { status: status$.value, snapshot: snapshotOf(status$.value) };
  return {
    apply: (event: StatusEvent): void => status$.next(reduceStatus(status$.value, event, seed)),
    /** The same object until the next event, so that readers can cache derived values by it. */
    snapshot: (): StatusSnapshot => {
      const status = status$.value;
      if (shown.status !== status) shown = { status, snapshot: snapshotOf(status) };
      return shown.snapshot;
    },
    agent: (name: string): AgentRecord | undefined => status$.value.records.get(name),
    /** The number of live runs. */
    running: (): number => status$.value.scheduler.running,
    agents: (): Iterable<AgentRecord> => status$.value.records.values(),
    /** Locks that runs hold or wait for. */
    claims: (): Iterable<LockStatus> => status$.value.claims.values(),
    /** Hot, at most one every 100 ms. Skips the current state, which the client's snapshot has. */
    update$: statusUpdates(status$.pipe(skip(1)), asyncScheduler).pipe(share()),
  };
}

/** The pause, for the status. */
export function pauseStatus({ schedules, work, since }: Pause) {
  return { paused: schedules, pausedWork: work, pausedAt: isoTime(since) };
}

/**
 * Seeds the row of an agent with its last run, its switch and its spending today. They are read when the row is made,
 * because the agent may have run, been removed and come back since the start.
 */
export function seedFrom(
  lastRun: (agent: string) => EarlierRun | null,
  isEnabled: (agent: string) => boolean,
  spentToday: (agent: string) => DaySpend | null,
): (agent: string) => Partial<AgentRecord> {
  return (agent) => {
    const run = lastRun(agent);
    const today = spentToday(agent);
    return { enabled: isEnabled(agent), today, ...(run === null ? {} : withEarlierRun(run)) };
  };
}
