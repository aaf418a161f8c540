import { Observable } from "rxjs";
import type { SchedulerLike, Subscription } from "rxjs";
import type { AgentStatus, RecentLog, StatusUpdate } from "./wire.ts";
import { toAgentStatus } from "./agent-record.ts";
import type { Status } from "./reduce-status.ts";

/** At most one update in this time, in ms. */
const gatherMs = 100;
const mostLogs = 20;

/**
 * What the status stream sends after its snapshot: only what changed, the first change at once, then what gathered
 * in each 100 ms. A row that changed often is sent once, as it is at that moment.
 *
 *     status:  ─a──b─a─a──────────────b──
 *     out:     ─a───────(ab)──────────b──     100 ms: ────────
 */
export function statusUpdates(
  status$: Observable<Status>,
  scheduler: SchedulerLike,
): Observable<StatusUpdate> {
  return new Observable((subscriber) => {
    let gathered = createGathering();
    let latest: Status | undefined;
    let pause: Subscription | undefined;

    const flush = (): void => {
      pause = undefined;
      if (latest === undefined || gathered.isEmpty()) return;
      const update = gathered.update(latest);
      gathered = createGathering();
      pause = scheduler.schedule(flush, gatherMs);
      subscriber.next(update);
    };

    subscriber.add(() => pause?.unsubscribe());
    subscriber.add(
      status$.subscribe({
        next: (status) => {
          latest = status;
          gathered.add(status);
          if (pause === undefined) flush();
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => {
          flush();
          subscriber.complete();
        },
      }),
    );
  });
}

function createGathering(): {
  add: (status: Status) => void;
  isEmpty: () => boolean;
  update: (status: Status) => StatusUpdate;
} {
  const agents = new Set<string>();
  let logs: readonly RecentLog[] = [];
  let scheduler = false;
  return {
    add: ({ change }) => {
      if (change.agent !== null) agents.add(change.agent);
      if (change.scheduler) scheduler = true;
      if (change.logs.length > 0) logs = [...logs, ...change.logs].slice(-mostLogs);
    },
    isEmpty: () => agents.size === 0 && logs.length === 0 && !scheduler,
    update: (status) => ({
      ...(scheduler ? { scheduler: status.scheduler } : {}),
      ...rows(status, agents),
      ...(logs.length > 0 ? { logs } : {}),
    }),
  };
}

function rows(
  { records }: Status,
  names: ReadonlySet<string>,
): { agents?: AgentStatus[]; removed?: string[] } {
  const agents: AgentStatus[] = [];
  const removed: string[] = [];
  for (const name of names) {
    const record = records.get(name);
    if (record === undefined) removed.push(name);
    else agents.push(toAgentStatus(record));
  }
  return {
    ...(agents.length > 0 ? { agents } : {}),
    ...(removed.length > 0 ? { removed } : {}),
  };
}
