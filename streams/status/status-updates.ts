import { Observable, type SchedulerLike, type Subscription } from "rxjs";
import type {
  AgentStatus,
  LockStatus,
  LockStatusId,
  RecentLog,
  StatusList,
  StatusUpdate,
} from "./wire.ts";
import { toAgentStatus } from "./agent-record.ts";
import { claimKey, type Status } from "./reduce-status.ts";

/** Minimum time between two updates, in ms. */
const gatherMs = 100;
const mostLogs = 20;
/** Limit of claims in one update; more of them come with the next one. */
const mostClaims = 50;

/**
 * The updates that the status stream sends after its snapshot: changes only, the first with the others of its turn of
 * the event loop (a switch is several events), then those that gathered in each 100 ms. A row that changed often is
 * sent once, as it is at that moment.
 *
 *     status:  ─a──b─a─a──────────────b──
 *     out:     ─a───────(ab)──────────b──     100 ms: ────────
 */
export function statusUpdates(
  status$: Observable<Status>,
  scheduler: SchedulerLike,
): Observable<StatusUpdate> {
  return new Observable((subscriber) => {
    const gathered = createGathering();
    let latest: Status | undefined;
    let pause: Subscription | undefined;

    const flush = (): void => {
      pause = undefined;
      if (latest === undefined || gathered.isEmpty()) return;
      const update = gathered.take(latest);
      pause = scheduler.schedule(flush, gatherMs);
      subscriber.next(update);
    };

    subscriber.add(() => pause?.unsubscribe());
    subscriber.add(
      status$.subscribe({
        next: (status) => {
          latest = status;
          gathered.add(status);
          if (!gathered.isEmpty()) pause ??= scheduler.schedule(flush);
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
  /** Returns the gathered changes and forgets them. */
  take: (status: Status) => StatusUpdate;
} {
  const agents = new Set<string>();
  const claims = new Map<string, LockStatusId>();
  const lists = new Set<StatusList>();
  let logs: readonly RecentLog[] = [];
  let scheduler = false;
  return {
    add: ({ change }) => {
      if (change.agent !== null) agents.add(change.agent);
      if (change.scheduler) scheduler = true;
      if (change.logs.length > 0) logs = [...logs, ...change.logs].slice(-mostLogs);
      if (change.claim !== null) claims.set(claimKey(change.claim), change.claim);
      for (const list of change.lists) lists.add(list);
    },
    isEmpty: () => agents.size + logs.length + claims.size + lists.size === 0 && !scheduler,
    take: (status) => {
      const ids = [...claims.values()].slice(0, mostClaims);
      const update = {
        ...(scheduler ? { scheduler: status.scheduler } : {}),
        ...rows(status, agents),
        ...(logs.length > 0 ? { logs } : {}),
        ...claimsOf(status, ids),
        ...(lists.size > 0 ? { changed: [...lists] } : {}),
      };
      lists.clear();
      agents.clear();
      for (const id of ids) claims.delete(claimKey(id));
      logs = [];
      scheduler = false;
      return update;
    },
  };
}

function claimsOf({ claims }: Status, ids: readonly LockStatusId[]) {
  const locks: LockStatus[] = [];
  const unlocked: LockStatusId[] = [];
  for (const { resource, instanceId } of ids) {
    const claim = claims.get(claimKey({ resource, instanceId }));
    if (claim === undefined) unlocked.push({ resource, instanceId });
    else locks.push(claim);
  }
  return { ...(locks.length > 0 ? { locks } : {}), ...(unlocked.length > 0 ? { unlocked } : {}) };
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
  return { ...(agents.length > 0 ? { agents } : {}), ...(removed.length > 0 ? { removed } : {}) };
}
