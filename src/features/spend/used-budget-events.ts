import type { SpendMeter } from "./meter.ts";
import { mergeMap, pairwise, startWith, map, type Observable } from "rxjs";
import type { UsedBudget } from "../../../streams/spending.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { usedText, type BudgetHolds } from "./budget-holds.ts";
import { agentScope } from "../../foundation/contracts/budget.ts";
import { createCalendar } from "./rules/accounts.ts";
import { nanoOfUsd, usdOfNano } from "../../foundation/contracts/money.ts";
import { unlessUnreadable } from "../../foundation/store/store-error.ts";

export interface UsedBudgetDeps {
  readonly used$: BudgetHolds["used$"];
  /** Whether the project has the agent. */
  readonly hasAgent: (name: string) => boolean;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Emits each agent's used-up budget, and null once it recovers. */
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

/** A call that is settled meanwhile changes the amount, but not the budget that the agent waits for. */
function isSameLimit(a: UsedBudget | null, b: UsedBudget | null): boolean {
  if (a === null || b === null) return a === b;
  const isSameWindow = a.scope === b.scope && a.window === b.window;
  return isSameWindow && a.limit === b.limit && a.onLimit === b.onLimit;
}

function textOf(budget: UsedBudget | null): string {
  if (budget === null) return "its budget can pay calls to models again";
  return `${budget.onLimit === "pause" ? "work waits" : "work is refused"}: ${usedText(budget)}`;
}

/** The spending of runs as it happens, with their agents' total of today. */
export function spentEvents(
  meter: SpendMeter,
  timezone: () => string,
  now: () => number,
): Observable<RunEvent> {
  const calendar = createCalendar();
  return meter.spent$.pipe(
    map(({ agent, instanceId, usd }) => {
      const at = now();
      const { key: date, endsAt } = calendar(at, timezone()).day;
      const own = agentScope(agent);
      const states = meter.limits([agent]);
      const today = states.find(({ scope, window }) => scope === own && window === date);
      const spent = { usd: today?.usd ?? 0, endsAt };
      return { type: "spent", agent, at, instanceId, usd, today: spent } as const;
    }),
  );
}

/**
 * A finished run has the tokens and costs that the scheduler counted, including the most that its open calls may cost. The
 * run's own figure stays for calls that charge no budget, such as a subscription's, and if the store can't be read.
 */
export function withCost(event: RunEvent, meter: Pick<SpendMeter, "run">): RunEvent {
  if (event.type !== "finished") return event;
  // The store is read for runs that made no call within the last hour.
  const spent = unlessUnreadable(() => meter.run(event.instanceId, event.agent), null);
  if (spent === null) return event;
  const { usd, reservedUsd, turns, tokens } = spent;
  const costUsd = usdOfNano(nanoOfUsd(usd) + nanoOfUsd(reservedUsd));
  if (costUsd === 0 && tokens === 0) return event;
  const reported = { model: null, costUsd: null, turns, ...event.end.usage };
  const usage = { ...reported, tokens, ...(costUsd === 0 ? {} : { costUsd }) };
  return { ...event, end: { ...event.end, usage } };
}
