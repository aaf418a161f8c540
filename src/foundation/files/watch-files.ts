import {
  buffer,
  concatMap,
  debounceTime,
  defer,
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
import type { Observable } from "rxjs";
import { problemText } from "../../../streams/problem-text.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";
import { classify, type PathKind } from "./classify.ts";
import { repairScans, type Scan } from "./scan.ts";
import { watchProject, type ProjectFileEvent } from "./watch-project.ts";

/** Possible changes on disk. All are hints. */
export interface WatchedFiles {
  /** Names of agents. */
  readonly agent$: Observable<string>;
  /** The project's config.toml. */
  readonly project$: Observable<unknown>;
  /** Why watching is impaired, and folders that can't be agents because of their name; for a person. */
  readonly warning$: Observable<string>;
}

/** How long no folder may appear or disappear before they are checked, in ms. */
const quietMs = 1_000;
/** How long to wait for a watcher to become ready, in ms. */
const readyTimeoutMs = 5_000;

interface WatchDeps {
  /** From before the files were read, so that later changes are found. */
  readonly scan: Scan;
  /** Directories that can't be agents, known already. */
  readonly problems: readonly Diagnostic[];
  readonly isAgentName: (name: string) => boolean;
  /** Lists the current directories of agents. */
  readonly listAgents: () => Promise<{
    readonly names: readonly string[];
    readonly problems: readonly Diagnostic[];
  }>;
}

/** Watches the files of a project, once for all subscribers; a scan finds missed events. */
export function watchFiles(projectDir: string, deps: WatchDeps): WatchedFiles {
  const { scan, problems, isAgentName, listAgents } = deps;
  const mayBeMisnamed = (kind: PathKind): boolean =>
    kind?.kind === "agents-root" || (kind?.kind === "agent" && !isAgentName(kind.name));
  const watched$ = watchProject(projectDir).pipe(share());
  const ready$ = watched$.pipe(filter(({ type }) => type === "ready"));
  const burst$ = burstsOfFolders(watched$).pipe(share());
  // A watcher is ready a second time after it fell back to polling.
  const begin$ = merge(ready$, timer(readyTimeoutMs).pipe(takeUntil(ready$)));
  const repaired$ = repairScans(projectDir, { begin$, also$: burst$, before: scan });
  const event$ = merge(repaired$, watched$).pipe(share());
  const kind$ = event$.pipe(
    mergeMap((event) => (event.type === "touched" ? of(classify(event.path)) : [])),
    share(),
  );
  const agent$ = merge(kind$, burst$.pipe(mergeMap((paths) => paths.map(classify))));
  return {
    agent$: agent$.pipe(
      mergeMap((kind) => {
        if (kind?.kind === "agent") return isAgentName(kind.name) ? of(kind.name) : [];
        if (kind?.kind !== "agents-root") return [];
        return from(listAgents()).pipe(mergeMap(({ names }) => names));
      }),
    ),
    project$: kind$.pipe(filter((kind) => kind?.kind === "project")),
    warning$: merge(
      event$.pipe(
        filter((event) => event.type === "warning"),
        map(({ message }) => message),
      ),
      newProblems(kind$.pipe(filter(mayBeMisnamed)), listAgents, problems),
    ),
  };
}

const agentFolder = /^agents\/[^/]+$/;

/**
 * Folders of agents that were added or removed, once no more follow. Watching misses the removal of a new folder, as
 * when one checkout follows another: each of a burst is checked once more, and a scan finds the others.
 */
function burstsOfFolders(event$: Observable<ProjectFileEvent>): Observable<readonly string[]> {
  const path$ = event$.pipe(
    filter((event) => event.type === "touched"),
    map(({ path }) => path),
    filter((path) => agentFolder.test(path)),
    share(),
  );
  return path$.pipe(buffer(path$.pipe(debounceTime(quietMs))));
}

/**
 * Problems that the last check did not have, as texts; checks at each value of `check$`, one after the other. A problem
 * that returns is emitted again.
 */
export function newProblems(
  check$: Observable<unknown>,
  check: () => Promise<{ readonly problems: readonly Diagnostic[] }>,
  first: readonly Diagnostic[],
): Observable<string> {
  return defer(() => {
    let known = new Set(first.map(problemText));
    const fresh = ({ problems }: { readonly problems: readonly Diagnostic[] }): string[] => {
      const texts = problems.map(problemText);
      const added = texts.filter((text) => !known.has(text));
      known = new Set(texts);
      return added;
    };
    return check$.pipe(
      concatMap(() => from(check())),
      concatMap(fresh),
    );
  });
}
