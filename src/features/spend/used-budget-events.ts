import { mergeMap, pairwise, startWith } from "rxjs";
import type { Observable } from "rxjs";
import type { RunEvent, UsedBudget } from "../../../streams/vocabulary.ts";
import { usedText } from "./budget-holds.ts";
import type { BudgetHolds } from "./budget-holds.ts";

export interface UsedBudgetDeps extends Pick<BudgetHolds, "used$"> {
  /** Whether the project has the agent. */
  readonly hasAgent: (name: string) => boolean;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Each agent's budget when it is used up, and null once it is not any more. */
export function usedBudgetEvents({ used$, hasAgent, now }: UsedBudgetDeps): Observable<RunEvent> {
  return used$.pipe(
    startWith(new Map<string, UsedBudget>()),
    pairwise(),
    mergeMap(([before, after]) =>
      [...new Set([...before.keys(), ...after.keys()])].filter(hasAgent).flatMap((agent) => {
        const budget = after.get(agent) ?? null;
        if (isSameLimit(before.get(agent) ?? null, budget)) return [];
        return [{ type: "used-budget", agent, at: now(), budget, text: textOf(budget) } as const];
      }),
    ),
  );
}

/** A call that is settled meanwhile changes what is spent, and nothing about what the agent waits for. */
function isSameLimit(a: UsedBudget | null, b: UsedBudget | null): boolean {
  if (a === null || b === null) return a === b;
  const isSameWindow = a.scope === b.scope && a.window === b.window;
  return isSameWindow && a.limit === b.limit && a.onLimit === b.onLimit;
}

function textOf(budget: UsedBudget | null): string {
  if (budget === null) return "its budget pays calls to models again";
  return `${budget.onLimit === "pause" ? "work waits" : "work is refused"}: ${usedText(budget)}`;
}
