import { defer, distinct, EMPTY, exhaustMap, filter, merge, mergeMap, of } from "rxjs";
import type { Observable } from "rxjs";
import { listLogFiles, parseLogFileName } from "./log-files.ts";
import { lastWrite } from "./log-position.ts";

/** A directory that changed this recently, in ms, may change again within one step of its time stamp. */
const stampStepMs = 2_000;

/** Each agent that has a log file, once, as soon as it has one; `tick$` names files that may be new, null any. */
export function loggingAgents(dir: string, tick$: Observable<string | null>): Observable<string> {
  return defer(() => {
    let listedAt = -Infinity;
    const list = (): Observable<string> =>
      defer(async () => {
        const startedAt = Date.now();
        const changedAt = await lastWrite(dir);
        if (changedAt === null || changedAt + stampStepMs < listedAt) return [];
        const files = await listLogFiles(dir, null);
        listedAt = startedAt;
        return files.map(({ agent }) => agent);
      }).pipe(mergeMap((agents) => agents));
    const named$ = tick$.pipe(
      filter((name) => name !== null),
      mergeMap((name) => {
        const file = parseLogFileName(name);
        return file === null ? EMPTY : of(file.agent);
      }),
    );
    const listed$ = merge(of(null), tick$).pipe(
      filter((name) => name === null),
      exhaustMap(list),
    );
    return merge(named$, listed$).pipe(distinct());
  });
}
