import {
  catchError,
  concatMap,
  EMPTY,
  from,
  ignoreElements,
  interval,
  merge,
  takeUntil,
  timer,
} from "rxjs";
import type { Observable } from "rxjs";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import { messageOf } from "../foundation/errors.ts";
import { pruneLogs } from "../foundation/logs/log-position.ts";
import { pruneRunLogs } from "../runtime/runners/host-user/prune-run-logs.ts";
import type { Store } from "../foundation/store/store.ts";
import { runsDir } from "../runtime/runners/host-user/run-agent-program.ts";

/** The schedule's misses are counted from the last of these, in ms. */
const aliveMs = 30_000;
const firstPruneMs = 60_000;
const pruneMs = 3_600_000;
const dayMs = 24 * pruneMs;

export interface HousekeepingDeps {
  readonly projectDir: string;
  readonly store: Pick<Store, "settings" | "prune">;
  readonly project$: { readonly value: ProjectConfig };
  readonly stopping$: Observable<unknown>;
  /** Deletes the contents of files that no row names any longer, and what no run used since `before`, epoch ms. */
  readonly sweep: (before: number) => Promise<unknown>;
  /** Called when log files were deleted. */
  readonly onPruned: () => void;
  readonly warn: (message: string) => void;
}

/** Periodic work: records that the scheduler is alive, and deletes history, logs, receipts and files past their retention. */
export function housekeeping({
  projectDir,
  store,
  project$,
  stopping$,
  sweep,
  onPruned,
  warn,
}: HousekeepingDeps): Observable<never> {
  const orWarn = (failure: string, work: () => Promise<unknown>): Observable<never> =>
    from(work()).pipe(
      ignoreElements(),
      catchError((error: unknown) => {
        warn(`${failure}: ${messageOf(error)}`);
        return EMPTY;
      }),
    );
  const prune = async (): Promise<void> => {
    const { historyRetentionDays: days, historyMaxBytes: maxBytes } = project$.value;
    const now = Date.now();
    // Logs, run logs, history and receipts share one limit. Host users' runs may use a quarter, logs half of the rest,
    // history and receipts the remainder.
    const runLogs = { projectDir, now, days, maxBytes: maxBytes / 4 };
    const runLogBytes = await pruneRunLogs(runsDir, runLogs);
    const left = maxBytes - runLogBytes;
    const logs = await pruneLogs(projectDir, { now, days, maxBytes: left / 2 });
    if (logs.deleted.length > 0) onPruned();
    await store.prune({ now, days, maxBytes: left - logs.bytes });
    await sweep(now - days * dayMs);
  };
  return merge(
    interval(aliveMs).pipe(
      concatMap(() => orWarn("note of life", () => store.settings.recordAlive(Date.now()))),
      // A heartbeat recorded after the stop would count as a death.
      takeUntil(stopping$),
    ),
    timer(firstPruneMs, pruneMs).pipe(concatMap(() => orWarn("retention", prune))),
  );
}
