import { catchError, concat, defer, exhaustMap, map, mergeMap, of, switchMap, timer } from "rxjs";
import type { Observable } from "rxjs";
import { messageOf } from "../errors.ts";
import { scanProject } from "./scan.ts";
import type { Scan } from "./scan.ts";
import type { ProjectFileEvent } from "./watch-project.ts";

/** When scans are made, and what the first is compared with. */
export interface RepairScanOptions {
  /** Each value begins anew with a scan at once: a watcher that is ready may have missed what was before. */
  readonly begin$?: Observable<unknown>;
  /** Between two scans, in ms. */
  readonly everyMs?: number;
  /** What the caller knows; without it, the first scan is what the others are compared with. */
  readonly before?: Scan | null;
}

/**
 * Scans the project every so often and emits what changed since the last scan: watching forgets a folder that was
 * renamed away and made again, or a link that was pointed elsewhere. `ready` follows the first scan. A scan that
 * fails is a `warning`, and changes nothing. Cold; never errors, never completes.
 */
export function repairScans(
  projectDir: string,
  { begin$ = of(null), everyMs = 30_000, before = null }: RepairScanOptions = {},
): Observable<ProjectFileEvent> {
  return defer(() => {
    let last = before;
    let isFirst = true;
    const compare = (scan: Scan): readonly ProjectFileEvent[] => {
      const paths = last === null ? [] : diffScan(last, scan);
      const ready: readonly ProjectFileEvent[] = isFirst ? [{ type: "ready" }] : [];
      last = scan;
      isFirst = false;
      return [...paths.map((path): ProjectFileEvent => ({ type: "touched", path })), ...ready];
    };
    const scan$ = defer(() => scanProject(projectDir)).pipe(
      map(compare),
      catchError((error: unknown) => of([warningOf(error)])),
    );
    const scans$ = concat(scan$, timer(everyMs, everyMs).pipe(exhaustMap(() => scan$)));
    return begin$.pipe(
      switchMap(() => scans$),
      mergeMap((events) => events),
    );
  });
}

function warningOf(error: unknown): ProjectFileEvent {
  const message = `the project's files can't be looked through: ${messageOf(error)}`;
  return { type: "warning", message };
}

/** Paths that came, went or changed between two scans, sorted. */
export function diffScan(before: Scan, after: Scan): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}
