import { Subject } from "rxjs";
import type { Budgets } from "../../foundation/contracts/budget.ts";
import { usdOfNano } from "../../foundation/contracts/money.ts";
import type { CallEnd, CallGrant, CallPlan } from "../../foundation/contracts/model-gateway.ts";
import { inputOf } from "../../foundation/contracts/price.ts";
import type { BudgetWarning, MeteredCall, ModelTerms } from "../../foundation/contracts/spend.ts";
import { runSpend, type RunSpend } from "./budget-states.ts";
import { costByPrice, costOfEnd, wholeUsage } from "./call-cost.ts";
import type { Reserved } from "./refusals.ts";
import type { Reservations } from "./reserve-money.ts";
import type { LedgerEvent } from "./rules/ledger-events.ts";
import type { Ledger } from "./rules/ledger.ts";
import type { SpendStore } from "./spend-store.ts";

export interface GrantDeps {
  readonly store: SpendStore;
  /** Current budgets; `agent` is null for one without a budget of its own. */
  readonly budgetsOf: (agent: string | null) => Budgets;
  /** A write that no caller waits for failed for good. */
  readonly onError: (error: unknown) => void;
}

/** A call whose cost is reserved and stored. */
interface OpenCall {
  readonly plan: CallPlan;
  readonly terms: ModelTerms;
  readonly reserved: Reserved;
  /** The call's number in the store. */
  readonly seq: number;
}

/** Grants calls whose cost is reserved, and settles each once with its real cost. */
export function createGrants(
  { store, budgetsOf, onError }: GrantDeps,
  ledger: Ledger,
  reservations: Reservations,
  now: () => number,
) {
  const spent = new Subject<RunSpend>();
  const metered = new Subject<MeteredCall>();
  const warning = new Subject<BudgetWarning>();

  const settle = ({ plan, terms, reserved: event, seq }: OpenCall, given: CallEnd): void => {
    const usage = given.usage === null ? null : wholeUsage(given.usage);
    const end = { ...given, usage };
    const { status, estimated, firstByteMs, totalMs } = end;
    const { call, nano: reserved, accounts } = event;
    const cost = costOfEnd(plan, terms, end, reserved);
    const { charged } = cost;
    const isTurn = usage !== null;
    const amounts = { ...cost, reserved, isTurn };
    const times = { firstByteMs, totalMs };
    store.settle({ seq, status, usage, estimated, ...amounts, ...times, accounts }).catch(onError);
    const inputTokens = usage === null || estimated ? null : inputOf(usage);
    const budgets = budgetsOf(plan.agent);
    const tokens = usage === null ? 0 : inputOf(usage) + usage.output;
    const settled = { nano: charged, inputTokens, isTurn, tokens, budgets };
    for (const one of ledger.apply({ type: "settle", call, ...settled }, now())) onEvent(plan, one);
    const { instanceId, agent, model, providerModel } = plan;
    const names = { instanceId, agent, model, provider: terms.provider, providerModel };
    const ended = { endedAt: now(), isCut: end.isCut, ...times };
    metered.next({ ...names, ...ended, seq, status, usage, usd: usdOfNano(charged) });
    reservations.freed(accounts);
  };
  const onEvent = ({ instanceId, agent }: CallPlan, event: LedgerEvent): void => {
    if (event.type === "settled") spent.next(runSpend(instanceId, agent, event.run));
    if (event.type !== "warned") return;
    const { account, percent, cap } = event;
    const { scope, window } = account;
    const amounts = { usd: usdOfNano(event.spent), limitUsd: usdOfNano(cap) };
    // Effects first: if only they are stored, the next scheduler repeats the warning, and its reader drops the second.
    warning.next({ scope, window, percent, ...amounts });
    store.recordWarning(account, percent).catch(onError);
  };
  const grant = (call: OpenCall): CallGrant => {
    let isOpen = true;
    const { instanceId, agent } = call.plan;
    spent.next(runSpend(instanceId, agent, call.reserved.run));
    return {
      granted: true,
      maxOutputTokens: call.reserved.maxOutputTokens,
      seen: (soFar) => {
        const usage = soFar.usage === null ? null : wholeUsage(soFar.usage);
        const nano = costByPrice(call.plan, call.terms, { ...soFar, usage });
        // The next progress, or the end, stores a higher amount.
        store.see(call.seq, nano).catch(() => undefined);
      },
      settle: (end) => {
        if (isOpen) settle(call, end);
        isOpen = false;
      },
    };
  };
  return {
    grant,
    spent$: spent.asObservable(),
    call$: metered.asObservable(),
    warning$: warning.asObservable(),
  };
}
