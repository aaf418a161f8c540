import { defer, finalize, groupBy, mergeMap, Subject } from "rxjs";
import type { Observable, OperatorFunction } from "rxjs";
import type { AgentChange } from "../vocabulary.ts";

/** The agent that a change is about. */
export function changedAgent(change: AgentChange): string {
  return change.type === "set" ? change.agent.name : change.name;
}

/**
 * One inner stream per agent, opened by its first change and fed with all later ones. The inner stream decides when
 * it is over: an agent that is removed has runs to finish, and one that comes back meanwhile goes on where it was.
 *
 *     changes:  ─a──b──a(removed)──────a──
 *     a:        ─a─────r────────|      a──    opened anew, because the first had ended
 *     b:        ────b─────────────────────
 */
export function eachAgent<R>(
  open: (name: string, change$: Observable<AgentChange>) => Observable<R>,
): OperatorFunction<AgentChange, R> {
  return (change$) =>
    defer(() => {
      // One end per agent: told to all, the end of a thousand agents would be a million messages.
      const ends = new Map<string, Subject<void>>();
      return change$.pipe(
        groupBy(changedAgent, {
          duration: ({ key }) => {
            const end$ = new Subject<void>();
            ends.set(key, end$);
            return end$;
          },
        }),
        mergeMap((agent$) =>
          open(agent$.key, agent$).pipe(
            finalize(() => {
              const end$ = ends.get(agent$.key);
              ends.delete(agent$.key);
              end$?.next();
            }),
          ),
        ),
      );
    });
}
