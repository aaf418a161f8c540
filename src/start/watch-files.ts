import {
  buffer,
  debounceTime,
  filter,
  from,
  map,
  merge,
  mergeMap,
  of,
  share,
  takeUntil,
  timer,
} from "rxjs";
import type { MonoTypeOperatorFunction, Observable } from "rxjs";
import { isAgentName, listAgents } from "../config/agent-files.ts";
import type { Problem } from "../../streams/vocabulary.ts";
import { classify } from "../files/classify.ts";
import type { PathKind } from "../files/classify.ts";
import type { ProjectFileEvent } from "../files/project-file-event.ts";
import { repairScans } from "../files/repair-scans.ts";
import type { Scan } from "../files/scan.ts";
import { watchProject } from "../files/watch-project.ts";
import { newProblems } from "./new-problems.ts";

/** What may have changed on disk. All are hints. */
export interface WatchedFiles {
  /** Names of agents. */
  readonly agent$: Observable<string>;
  /** The project's config.toml. */
  readonly project$: Observable<unknown>;
  /** Why watching is impaired, and what can't be an agent because of its name; for a person. */
  readonly warning$: Observable<string>;
}

/** Nothing came or went for so long, in ms. */
const quietMs = 1_000;
/** A watcher that is not ready by then, in ms, is not waited for. */
const patienceMs = 5_000;

/** How the project was when its files were read, and what was said of it. */
export interface SeenBefore {
  /** From before the files were read: what changed since then is found, too. */
  readonly scan: Scan;
  /** Directories that can't be agents. */
  readonly problems: readonly Problem[];
}

/** Watches the files of a project, once for all who listen; what events miss, a scan finds. */
export function watchFiles(projectDir: string, { scan, problems }: SeenBefore): WatchedFiles {
  const watched$ = watchProject(projectDir).pipe(share());
  const ready$ = watched$.pipe(filter(({ type }) => type === "ready"));
  // A watcher is ready a second time when it had to begin anew by polling.
  const begin$ = merge(ready$, timer(patienceMs).pipe(takeUntil(ready$)));
  const repaired$ = repairScans(projectDir, { begin$, before: scan });
  const event$ = merge(repaired$, watched$).pipe(share());
  const kind$ = event$.pipe(
    mergeMap((event) => (event.type === "touched" ? of(classify(event.path)) : [])),
    share(),
  );
  const agent$ = merge(kind$, cameOrWent(watched$).pipe(onceMoreWhenQuiet()));
  return {
    agent$: agent$.pipe(
      mergeMap((kind) => {
        if (kind?.kind === "agent") return isAgentName(kind.name) ? of(kind.name) : [];
        if (kind?.kind !== "agents-root") return [];
        return from(listAgents(projectDir)).pipe(mergeMap(({ names }) => names));
      }),
    ),
    project$: kind$.pipe(filter((kind) => kind?.kind === "project")),
    warning$: merge(
      event$.pipe(
        filter((event) => event.type === "warning"),
        map(({ message }) => message),
      ),
      newProblems(kind$.pipe(filter(mayBeMisnamed)), () => listAgents(projectDir), problems),
    ),
  };
}

/** Folders of agents that came or went. */
function cameOrWent(event$: Observable<ProjectFileEvent>): Observable<PathKind> {
  return event$.pipe(
    mergeMap((event) =>
      event.type === "touched" && agentFolder.test(event.path) ? of(classify(event.path)) : [],
    ),
    share(),
  );
}

const agentFolder = /^agents\/[^/]+$/;

/**
 * Watching misses that a folder went which had only just come, as when one checkout follows another: each of a burst is
 * looked at once more.
 */
function onceMoreWhenQuiet<T>(): MonoTypeOperatorFunction<T> {
  return (value$) =>
    value$.pipe(
      buffer(value$.pipe(debounceTime(quietMs))),
      mergeMap((values) => values),
    );
}

function mayBeMisnamed(kind: PathKind): boolean {
  return kind?.kind === "agents-root" || (kind?.kind === "agent" && !isAgentName(kind.name));
}
