import { auditTime, buffer, concatMap, defer, filter, from, map, startWith, Subject } from "rxjs";
import type { Observable } from "rxjs";
import type { Diagnostic } from "../../streams/vocabulary.ts";
import { bareSkillProblem, readBareSkill } from "../foundation/config/agent-files.ts";
import { failureOf } from "../foundation/errors.ts";
import { scanProject, type Scan } from "../foundation/files/scan.ts";

/**
 * The state of all files before a start reads them: a later scan finds changes from then on. Rejects with Problem
 * `unreadable_agents` if `agents/` can't be read: a start without agents would reject all work that waits for them.
 */
export function scanFiles(projectDir: string): Promise<Scan> {
  return scanProject(projectDir).catch((cause: unknown) => {
    throw failureOf(
      "unreadable_agents",
      "the agents can't be read",
      cause,
      "make agents/ and its parent directories readable for the user that runs the scheduler",
    );
  });
}

/** The directories with a SKILL.md and no `config.toml`. */
export interface UnconfiguredSkills {
  /** Called with each directory that was read; `isAgent` if it has a `config.toml`. */
  readonly onRead: (name: string, isAgent: boolean) => void;
  /** A problem for each such directory, at once and after each change. */
  readonly problem$: Observable<readonly Diagnostic[]>;
}

/** The files of an agent are written one after the other: a directory is checked after this, in ms. */
const settleMs = 1_000;

/** `names` are the directories at the start. */
export function createUnconfiguredSkills(
  projectDir: string,
  names: readonly string[],
): UnconfiguredSkills {
  const read$ = new Subject<{ readonly name: string; readonly isAgent: boolean }>();
  const problem$ = defer(() => {
    const unconfigured = new Set(names);
    const touched$ = read$.pipe(
      filter(({ name, isAgent }) => !isAgent || unconfigured.has(name)),
      map(({ name }) => name),
    );
    const look = async (name: string): Promise<boolean> => {
      const isUnconfigured = (await readBareSkill(projectDir, name)) !== null;
      if (isUnconfigured === unconfigured.has(name)) return false;
      if (isUnconfigured) unconfigured.add(name);
      else unconfigured.delete(name);
      return true;
    };
    const problems = (): readonly Diagnostic[] => [...unconfigured].sort().map(bareSkillProblem);
    return touched$.pipe(
      buffer(touched$.pipe(auditTime(settleMs))),
      concatMap((touched) => from(Promise.all([...new Set(touched)].map(look)))),
      filter((changes) => changes.includes(true)),
      map(problems),
      startWith(problems()),
    );
  });
  return { onRead: (name, isAgent) => read$.next({ name, isAgent }), problem$ };
}
