import type { Budgets, AccountKey } from "../../foundation/contracts/budget.ts";
import type { Ledger } from "./rules/ledger.ts";
import type { CallPlan } from "../../foundation/contracts/model-gateway.ts";
import type { ModelTerms } from "../../foundation/contracts/spend.ts";
import { ratesOf } from "./call-cost.ts";
import { createHeldMoney } from "./held-money.ts";
import { isHeld } from "./refusals.ts";
import type { Refused, Reserved } from "./refusals.ts";

/** Money for calls that begin, from the accounts of a ledger. */
export interface Reservations {
  /** Waits for what open calls hold. Rejects with the reason of `signal`. */
  reserve(plan: CallPlan, terms: ModelTerms, signal: AbortSignal): Promise<Reserved | Refused>;
  /** The call does not begin. */
  cancel(plan: CallPlan, reserved: Reserved): void;
  /** Money came back to these accounts, or their limits changed. */
  freed(accounts: readonly AccountKey[]): void;
}

/** How long a call waits for what open calls hold, in ms: its client waits for the answer as long as ten minutes. */
const longestHeldMs = 120_000;

/** No calls at first. `now` gives epoch ms. */
export function createReservations(
  ledger: Ledger,
  budgetsOf: (agent: string) => Budgets,
  now: () => number,
): Reservations {
  const held = createHeldMoney<Reserved | Refused>(longestHeldMs);
  let calls = 0;

  const reserveNow = (call: string, plan: CallPlan, terms: ModelTerms): Reserved | Refused => {
    const { instanceId, agent, requestBytes, maxOutputTokens, minOutputTokens } = plan;
    const tokens = { maxOutputTokens, minOutputTokens, modelMaxTokens: terms.maxOutputTokens };
    const who = { call, instanceId, agent, budgets: budgetsOf(agent) };
    const rates = ratesOf(plan, terms);
    const command = { type: "reserve", ...who, requestBytes, ...tokens, rates } as const;
    const [event] = ledger.apply(command, now());
    if (event?.type === "reserved" || event?.type === "refused") return event;
    throw new Error("a ledger neither reserved nor refused");
  };
  return {
    reserve: (plan, terms, signal) => {
      const call = `${++calls}`;
      const once = (): Reserved | Refused => reserveNow(call, plan, terms);
      const attempt = () => {
        const event = once();
        return isHeld(event) ? { heldBy: event.refusal } : { result: event };
      };
      return held.get(attempt, once, signal);
    },
    cancel: ({ agent }, { call, accounts }) => {
      const none = {
        nano: 0,
        inputTokens: null,
        isTurn: false,
        tokens: 0,
        budgets: budgetsOf(agent),
      };
      ledger.apply({ type: "settle", call, ...none }, now());
      held.freed(accounts);
    },
    freed: (accounts) => held.freed(accounts),
  };
}
