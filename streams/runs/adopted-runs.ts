import { BehaviorSubject, defer, finalize, mergeMap, type Observable } from "rxjs";
import type { RunEvent } from "../vocabulary.ts";
import type { Slots } from "./slots.ts";
import { followedRun, type ClaimedRun, type FollowPorts } from "./run-agent.ts";

/** A run that an earlier scheduler started and this one adopts. `startedAt` is epoch ms. */
export interface AdoptedRun extends Omit<ClaimedRun, "slot"> {
  readonly startedAt: number;
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
      const { agent } = run.request.item;
      const slot = ports.slots.tryTake();
      add(agent, 1);
      return followedRun({ ...run, slot }, ports).pipe(
        finalize(() => {
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
  };
}

export type AdoptedRuns = ReturnType<typeof adoptedRuns>;
