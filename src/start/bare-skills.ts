import { auditTime, buffer, concatMap, defer, filter, from, map, startWith, Subject } from "rxjs";
import type { Observable } from "rxjs";
import type { Problem } from "../../streams/vocabulary.ts";
import { bareSkillProblem, readBareSkill } from "../config/agent-files.ts";

/** The directories that have a SKILL.md and no `config.toml`. */
export interface BareSkills {
  /** Told of every directory that is read; `isAgent` when it has a `config.toml`. */
  readonly see: (name: string, isAgent: boolean) => void;
  /** What is to be said of them, at once and whenever that differs. */
  readonly problem$: Observable<readonly Problem[]>;
}

/** The files of an agent are written one after the other: a directory is looked at after this, in ms. */
const settleMs = 1_000;

/** `names` are those that were there at the start. */
export function createBareSkills(
  projectDir: string,
  names: readonly string[],
  lookAfterMs = settleMs,
): BareSkills {
  const read$ = new Subject<{ readonly name: string; readonly isAgent: boolean }>();
  const problem$ = defer(() => {
    const bare = new Set(names);
    const touched$ = read$.pipe(
      filter(({ name, isAgent }) => !isAgent || bare.has(name)),
      map(({ name }) => name),
    );
    const look = async (name: string): Promise<boolean> => {
      const isBare = (await readBareSkill(projectDir, name)) !== null;
      if (isBare === bare.has(name)) return false;
      if (isBare) bare.add(name);
      else bare.delete(name);
      return true;
    };
    const problems = (): readonly Problem[] => [...bare].sort().map(bareSkillProblem);
    return touched$.pipe(
      buffer(touched$.pipe(auditTime(lookAfterMs))),
      concatMap((touched) => from(Promise.all([...new Set(touched)].map(look)))),
      filter((changes) => changes.includes(true)),
      map(problems),
      startWith(problems()),
    );
  });
  return { see: (name, isAgent) => read$.next({ name, isAgent }), problem$ };
}
