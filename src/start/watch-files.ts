import { filter, from, map, merge, mergeMap, of, share, takeUntil, timer } from "rxjs";
import type { Observable } from "rxjs";
import { isAgentName, listAgents } from "../config/agent-files.ts";
import { classify } from "../files/classify.ts";
import { repairScans } from "../files/repair-scans.ts";
import type { Scan } from "../files/scan.ts";
import { watchProject } from "../files/watch-project.ts";

/** What may have changed on disk. All are hints. */
export interface WatchedFiles {
  /** Names of agents. */
  readonly agent$: Observable<string>;
  /** The project's config.toml. */
  readonly project$: Observable<unknown>;
  /** Why watching is impaired, for a person. */
  readonly warning$: Observable<string>;
}

/** A watcher that is not ready by then, in ms, is not waited for. */
const patienceMs = 5_000;

/**
 * Watches the files of a project, once for all who listen; what events miss, a scan finds. `before` is a scan from
 * before the files were read: what changed between then and the watcher's first moment is found, too.
 */
export function watchFiles(projectDir: string, before: Scan): WatchedFiles {
  const watched$ = watchProject(projectDir).pipe(share());
  const ready$ = watched$.pipe(filter(({ type }) => type === "ready"));
  // A watcher is ready a second time when it had to begin anew by polling.
  const begin$ = merge(ready$, timer(patienceMs).pipe(takeUntil(ready$)));
  const repaired$ = repairScans(projectDir, { begin$, before });
  const event$ = merge(repaired$, watched$).pipe(share());
  const kind$ = event$.pipe(
    mergeMap((event) => (event.type === "touched" ? of(classify(event.path)) : [])),
    share(),
  );
  return {
    agent$: kind$.pipe(
      mergeMap((kind) => {
        if (kind?.kind === "agent") return isAgentName(kind.name) ? of(kind.name) : [];
        if (kind?.kind !== "agents-root") return [];
        return from(listAgents(projectDir)).pipe(mergeMap(({ names }) => names));
      }),
    ),
    project$: kind$.pipe(filter((kind) => kind?.kind === "project")),
    warning$: event$.pipe(
      filter((event) => event.type === "warning"),
      map(({ message }) => message),
    ),
  };
}
