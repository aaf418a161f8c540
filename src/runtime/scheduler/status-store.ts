import { asyncScheduler, BehaviorSubject, share, skip } from "rxjs";
import type { Observable } from "rxjs";
import { initialStatus, reduceStatus, snapshotOf } from "../../../streams/status/reduce-status.ts";
import type { StatusEvent } from "../../../streams/status/reduce-status.ts";
import { statusUpdates } from "../../../streams/status/status-updates.ts";
import { withEarlierRun } from "../../../streams/status/agent-record.ts";
import type { AgentRecord, EarlierRun } from "../../../streams/status/agent-record.ts";
import type {
  LockStatus,
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../../streams/status/wire.ts";
import type { DaySpend, LogEntry } from "../../../streams/vocabulary.ts";

/** The only holder of the state; the status stream, the API and the command line read it. */
export interface StatusStore {
  apply(event: StatusEvent): void;
  /** The same object until the next event, so that what is made of it can be kept as long. */
  snapshot(): StatusSnapshot;
  agent(name: string): AgentRecord | undefined;
  /** How many runs live. */
  running(): number;
  agents(): Iterable<AgentRecord>;
  /** What runs hold and wait for. */
  claims(): Iterable<LockStatus>;
  /** Hot; at most one every 100 ms. */
  readonly update$: Observable<StatusUpdate>;
}

/**
 * A status that starts with the scheduler and the lines of those before it; `seed` is what is known of an agent without
 * a row.
 */
export function createStatusStore(
  scheduler: SchedulerStatus,
  seed: (agent: string) => Partial<AgentRecord>,
  earlier: readonly LogEntry[] = [],
): StatusStore {
  const status$ = new BehaviorSubject(initialStatus(scheduler, earlier));
  let shown = { status: status$.value, snapshot: snapshotOf(status$.value) };
  return {
    apply: (event) => status$.next(reduceStatus(status$.value, event, seed)),
    snapshot: () => {
      const status = status$.value;
      if (shown.status !== status) shown = { status, snapshot: snapshotOf(status) };
      return shown.snapshot;
    },
    agent: (name) => status$.value.records.get(name),
    running: () => status$.value.scheduler.running,
    agents: () => status$.value.records.values(),
    claims: () => status$.value.claims.values(),
    // Shared among the clients; without one nothing is gathered. The subject holds the state either way, and what it
    // begins with is in the client's snapshot.
    update$: statusUpdates(status$.pipe(skip(1)), asyncScheduler).pipe(share()),
  };
}

/**
 * What is known of an agent without a row: its last run, whether it was disabled, and what it spent today. All are read
 * when the row is made: the agent may have run, and its directory have gone and come back, since the start.
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
