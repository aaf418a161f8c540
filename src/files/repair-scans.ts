import { catchError, concat, defer, exhaustMap, map, mergeMap, of, timer } from "rxjs";
import type { Observable } from "rxjs";
import { messageOf } from "../errors.ts";
import { diffScan } from "./diff-scan.ts";
import type { ProjectFileEvent } from "./project-file-event.ts";
import { scanProject } from "./scan.ts";
import type { Scan } from "./scan.ts";

/**
 * Scans the project every `everyMs` and tells what changed since the last scan: watching forgets a folder that was
 * renamed away and made again, or a link that was pointed elsewhere. The first scan, at once, is compared with
 * `before`, what the caller knows; without it, it is what the others are compared with. `ready` follows it. A scan
 * that fails is a `warning`, and changes nothing. Cold; never errors, never completes.
 */
export function repairScans(
  projectDir: string,
  everyMs = 30_000,
  before: Scan | null = null,
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
    return concat(scan$, timer(everyMs, everyMs).pipe(exhaustMap(() => scan$))).pipe(
      mergeMap((events) => events),
    );
  });
}

function warningOf(error: unknown): ProjectFileEvent {
  const message = `the project's files can't be looked through: ${messageOf(error)}`;
  return { type: "warning", message };
}
