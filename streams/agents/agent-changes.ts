import { defer, from, map, merge, mergeMap, switchMap, take, timer } from "rxjs";
import type { Observable, SchedulerLike } from "rxjs";
import type { AgentChange } from "../vocabulary.ts";
import { eachKey } from "./each-key.ts";

export interface AgentFilesSource<Files, Project> {
  /** The agents' files at the start, by agent name. */
  readonly initial: ReadonlyMap<string, Files>;
  /** Names of agents whose files may have changed. Hints: they may repeat and may be wrong. */
  readonly touched$: Observable<string>;
  /** The project's active config; emits at once, then on each change. */
  readonly project$: Observable<Project>;
  /** Reads the agent's files now; null when it has none. Must not error. */
  readonly read: (name: string) => Observable<Files | null>;
  /** Pure. */
  readonly resolve: (files: Files, project: Project) => AgentChange;
  readonly scheduler: SchedulerLike;
}

/** An editor saves in several steps; a read waits until a file has been quiet for this long, in ms. */
const settleMs = 40;

type Step<Files, Project> =
  | { readonly type: "files"; readonly name: string; readonly files: Files | null }
  | { readonly type: "project"; readonly project: Project };

/**
 * File events → changes of agents. Emits only differences: a save that changes nothing is silent, and a
 * change of the project's config is emitted for the agents that it touches.
 *
 *     touched:  ─d─dd────────p(project)──d────
 *     out:      s──────s──────(s s)──────────r     s set, r removed
 */
export function agentChanges<Files, Project>(
  source: AgentFilesSource<Files, Project>,
): Observable<AgentChange> {
  return defer(() => {
    const known = new Map(source.initial);
    const emitted = new Map<string, string>();
    let project: Project | undefined;

    const resolved = (name: string, files: Files): AgentChange[] => {
      if (project === undefined) return [];
      const change = source.resolve(files, project);
      const text = JSON.stringify(change);
      if (emitted.get(name) === text) return [];
      emitted.set(name, text);
      return [change];
    };

    const readAgain = (name: string, files: Files | null): AgentChange[] => {
      if (files !== null) {
        known.set(name, files);
        return resolved(name, files);
      }
      emitted.delete(name);
      return known.delete(name) ? [{ type: "removed", name }] : [];
    };

    const allAgain = (next: Project): AgentChange[] => {
      project = next;
      return [...known].flatMap(([name, files]) => resolved(name, files));
    };

    return merge(projectSteps(source), fileSteps(source)).pipe(
      mergeMap((step) =>
        from(step.type === "project" ? allAgain(step.project) : readAgain(step.name, step.files)),
      ),
    );
  });
}

function projectSteps<Files, Project>(
  source: AgentFilesSource<Files, Project>,
): Observable<Step<Files, Project>> {
  return source.project$.pipe(map((project) => ({ type: "project", project })));
}

/**
 * Each name settles and is read by itself; a touch while it is read starts over. A name is forgotten once it was
 * read: names of the past don't pile up, and no group keeps the watcher open when the reader leaves.
 */
function fileSteps<Files, Project>(
  source: AgentFilesSource<Files, Project>,
): Observable<Step<Files, Project>> {
  const { read, scheduler } = source;
  const settledRead = (name: string): Observable<Step<Files, Project>> =>
    timer(settleMs, scheduler).pipe(
      switchMap(() => read(name)),
      map((files) => ({ type: "files", name, files })),
    );
  return source.touched$.pipe(
    eachKey(
      (name) => name,
      (_, name$) => name$.pipe(switchMap(settledRead), take(1)),
    ),
  );
}
