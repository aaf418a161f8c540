import { asyncScheduler, defer, from, map, mergeMap } from "rxjs";
import type { Observable, ObservableInput, SchedulerLike } from "rxjs";
import { problemText } from "../../streams/problem-text.ts";
import { readSettled } from "../../streams/agents/read-settled.ts";
import { bareSkillProblem } from "../config/agent-files.ts";

/**
 * Files that are copied come one after the other, and an editor's save takes a file away for a moment. A warning can
 * wait longer than a reload until all is quiet, in ms.
 */
const quietMs = 1_000;

interface Look {
  /** Whether the directory has a SKILL.md and no `config.toml` now. Emits one value, never errors. */
  readonly isBare: (name: string) => ObservableInput<boolean>;
  readonly scheduler?: SchedulerLike;
}

/**
 * Warns of directories that are no agents only because they have no `config.toml`. `name$` are those that may be,
 * each looked at once it is quiet. What was cured and came back is told again.
 */
export function bareSkills(
  name$: Observable<string>,
  { isBare, scheduler = asyncScheduler }: Look,
): Observable<string> {
  return defer(() => {
    const told = new Set<string>();
    const untold = (name: string, bare: boolean): string[] => {
      if (bare === told.has(name)) return [];
      if (bare) told.add(name);
      else told.delete(name);
      return bare ? [problemText(bareSkillProblem(name))] : [];
    };
    const read = (name: string): Observable<string[]> =>
      from(isBare(name)).pipe(map((bare) => untold(name, bare)));
    return name$.pipe(
      readSettled({ quietMs, read, scheduler }),
      mergeMap((texts) => texts),
    );
  });
}
