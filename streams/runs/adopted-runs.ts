import { BehaviorSubject, defer, finalize, mergeMap, type Observable } from "rxjs";
import type { RunEvent, WorkItem } from "../vocabulary.ts";
import type { Slots } from "./slots.ts";
import { createKeyedRun, type Keyed, type KeyedRun } from "./keyed-runs.ts";
import { followedRun, killsOf, type ClaimedRun, type FollowPorts } from "./run-agent.ts";

/** A run that an earlier scheduler started and this one adopts. `startedAt` is epoch ms. */
export interface AdoptedRun extends Omit<ClaimedRun, "slot"> {
  readonly startedAt: number;
  /** The newer work for which the earlier scheduler was ending it; absent otherwise. */
  readonly supersededBy?: string;
}

/** The key of an item; null without one. */
export function keyedOf({ id, key, isRetry, trigger }: WorkItem): Keyed | null {
  const isLate = trigger.kind === "cron" && trigger.late !== undefined;
  return key === undefined ? null : { id, key, isRetry: isRetry === true, isLate };
}

/**
 * Follows adopted runs beside the queues, which did not start them: at once, whether or not there still is such an
 * agent. Each counts against its agent's scale, and takes a slot of the project's if one is free.
 *
 *     adopted:   ─1──2────────
 *     event$:    ─s──s──f───f─     s started, f finished
 *     countOf:   01──2──1───0─
 */
export function adoptedRuns(
  adopted$: Observable<AdoptedRun>,
  ports: FollowPorts & { readonly slots: Slots },
) {
  /** One for each agent: a run costs only its own agent. */
  const counts = new Map<string, BehaviorSubject<number>>();
  const countOf = (agent: string): BehaviorSubject<number> => {
    const count$ = counts.get(agent) ?? new BehaviorSubject(0);
    counts.set(agent, count$);
    return count$;
  };
  /** Adopted runs with a key, by agent. */
  const keyed = new Map<string, Set<KeyedRun>>();
  /** The work of adopted runs with a session key, over all agents. */
  const inSession = new Set<WorkItem>();
  const enter = ({ request: { item }, supersededBy }: AdoptedRun): KeyedRun | null => {
    const own = keyedOf(item);
    if (own === null) return null;
    const run = createKeyedRun(own, supersededBy);
    keyed.set(item.agent, (keyed.get(item.agent) ?? new Set()).add(run));
    return run;
  };
  const leave = (agent: string, run: KeyedRun | null): void => {
    const runs = keyed.get(agent);
    if (run !== null) runs?.delete(run);
    if (runs?.size === 0) keyed.delete(agent);
  };
  const forget = (agent: string): void => {
    const count$ = countOf(agent);
    if (count$.value === 0 && !count$.observed) counts.delete(agent);
  };
  const add = (agent: string, n: number): void => {
    countOf(agent).next(countOf(agent).value + n);
    forget(agent);
  };
  const followed = (run: AdoptedRun): Observable<RunEvent> =>
    defer(() => {
      const { item } = run.request;
      const { agent } = item;
      const slot = ports.slots.tryTake();
      const own = enter(run);
      if (item.session !== undefined) inSession.add(item);
      const isSuperseded = run.supersededBy !== undefined;
      const kill$ = own === null ? ports.kill$ : killsOf(ports.kill$, own);
      add(agent, 1);
      return followedRun({ ...run, slot, isSuperseded }, { ...ports, kill$ }).pipe(
        finalize(() => {
          leave(agent, own);
          inSession.delete(item);
          add(agent, -1);
          slot?.[Symbol.dispose]();
        }),
      );
    });
  return {
    event$: adopted$.pipe(mergeMap(followed)),
    /** Number of an agent's live adopted runs; emits at once. */
    countOf: (agent: string): Observable<number> =>
      defer(() => countOf(agent)).pipe(finalize(() => forget(agent))),
    /** An agent's live adopted runs that have a key. */
    keyedOf: (agent: string): Iterable<KeyedRun> => keyed.get(agent) ?? [],
    /** The session keys of an agent's live adopted runs. */
    sessionsOf: (agent: string): readonly string[] =>
      [...inSession].flatMap((item) => (item.agent === agent ? (item.session ?? []) : [])),
  };
}

export type AdoptedRuns = ReturnType<typeof adoptedRuns>;
