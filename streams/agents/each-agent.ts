import type { Observable, OperatorFunction } from "rxjs";
import type { AgentChange } from "../vocabulary.ts";
import { eachKey } from "./each-key.ts";

/** The agent that a change is about. */
export function changedAgent(change: AgentChange): string {
  return change.type === "set" ? change.agent.name : change.name;
}

/**
 * One inner stream per agent, opened by its first change and fed with all later ones. The inner stream decides when
 * it is over: an agent that is removed has runs to finish, and one that comes back meanwhile continues.
 *
 *     changes:  ─a──b──a(removed)──────a──
 *     a:        ─a─────r────────|      a──    opened anew, because the first had ended
 *     b:        ────b─────────────────────
 */
export function eachAgent<R>(
  open: (name: string, change$: Observable<AgentChange>) => Observable<R>,
): OperatorFunction<AgentChange, R> {
  return eachKey(changedAgent, open);
}
