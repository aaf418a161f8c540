import { Subject } from "rxjs";
import { agentScope, type Budgets, type AccountKey } from "../../foundation/contracts/budget.ts";
import { createLedger, type Ledger } from "./rules/ledger.ts";
import type { LedgerEvent } from "./rules/ledger-events.ts";
import { usdOfNano, nanoOfUsd, type NanoUsd } from "../../foundation/contracts/money.ts";
import { inputOf } from "../../foundation/contracts/price.ts";
import { createCalendar } from "./rules/accounts.ts";
import type {
  CallEnd,
  CallGrant,
  CallPlan,
  Meter,
} from "../../foundation/contracts/model-gateway.ts";
import type { BudgetWarning, MeteredCall, ModelTerms } from "../../foundation/contracts/spend.ts";
import type { SpendStore } from "./spend-store.ts";
import { budgetStates, exhaustedState, runSpend, type RunSpend } from "./budget-states.ts";
import { costByPrice, costOfEnd, wholeUsage } from "./call-cost.ts";
import { usageOfRequest } from "./rules/input-estimate.ts";
import { createRateLimits } from "./rate-limits.ts";
import { rateLimited, refused, waitText, type Reserved } from "./refusals.ts";
import { createReservations } from "./reserve-money.ts";

export interface MeterDeps {
  readonly store: SpendStore;
  /** The terms of a model, by its name in the project's config and the provider's id. */
  readonly termsOf: (model: string, providerModel: string) => Promise<ModelTerms>;
  /** Current budgets; `agent` is null for one without a budget of its own. */
  readonly budgetsOf: (agent: string | null) => Budgets;
  /** Time zone of the project, IANA name. */
  readonly timezone: () => string;
  /** Instance ids of the agent's live runs. */
  readonly liveRuns: (agent: string) => readonly string[];
  /** A call waits for its turn; the text is for the log of its run. */
  readonly onWait?: (plan: CallPlan, text: string) => void;
  /** A write that no caller waits for failed for good. */
  readonly onError: (error: unknown) => void;
  /** Epoch ms. */
  readonly now?: () => number;
}

/** A call whose cost is reserved and stored. */
interface OpenCall {
  readonly plan: CallPlan;
  readonly terms: ModelTerms;
  readonly reserved: Reserved;
  /** The call's number in the store. */
  readonly seq: number;
}

/**
 * Meters the calls of runs to models: reserves the highest cost of a call in memory, stores it, and only then grants the call.
 */
export function createMeter(deps: MeterDeps) {
  const { store, budgetsOf, timezone, liveRuns, onError, now = Date.now } = deps;
  const ledger = createLedger((scope, window) => store.account(scope, window));
  const reservations = createReservations(ledger, budgetsOf, now);
  const rateLimits = createRateLimits();
  const calendar = createCalendar();
  const spent = new Subject<RunSpend>();
  const metered = new Subject<MeteredCall>();
  const warning = new Subject<BudgetWarning>();
  const refusedAgent = new Subject<string>();
  const raised = new Subject<string>();

  /** Resolves with the number of the stored call. */
  const commit = async (plan: CallPlan, terms: ModelTerms, event: Reserved): Promise<number> => {
    const at = now();
    const { instanceId, agent, model, providerModel } = plan;
    const day = calendar(at, budgetsOf(agent).timezone).day.key;
    const names = { instanceId, agent, model, providerModel };
    const { nano: reserved, accounts } = event;
    try {
      const { billing } = terms;
      const sent = { usage: usageOfRequest(plan.requestBytes), serviceTier: null };
      const seen = costByPrice(plan, terms, sent);
      return await store.reserve({ at, day, ...names, billing, reserved, seen, accounts });
    } catch (error) {
      reservations.cancel(plan, event);
      throw error;
    }
  };
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
  const granted = (call: OpenCall): CallGrant => {
    let isOpen = true;
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
  const raise = createRaise(ledger, { store, timezone, liveRuns, now });

  return {
    spent$: spent.asObservable(),
    call$: metered.asObservable(),
    warning$: warning.asObservable(),
    /** Agents of calls that a budget could not pay. */
    refused$: refusedAgent.asObservable(),
    /** Scopes whose limits a person raised. */
    raised$: raised.asObservable(),
    begin: async (plan: CallPlan, signal: AbortSignal): ReturnType<Meter["begin"]> => {
      const { model, instanceId, agent } = plan;
      const terms = await deps.termsOf(model, plan.providerModel);
      const { requestsPerMinute } = terms;
      const onWait = (ms: number) => deps.onWait?.(plan, waitText(model, requestsPerMinute, ms));
      const call = { model, perMinute: requestsPerMinute, instanceId };
      const tooLate = await rateLimits.turn(call, signal, onWait);
      if (tooLate !== null) return rateLimited(model, requestsPerMinute, tooLate);
      const event = await reservations.reserve(plan, terms, signal);
      if (event.type === "refused") {
        if (event.refusal.code === "budget_exceeded") refusedAgent.next(agent);
        return refused(event.refusal);
      }
      const seq = await commit(plan, terms, event);
      const grant = granted({ plan, terms, reserved: event, seq });
      spent.next(runSpend(instanceId, agent, event.run));
      if (signal.aborted) grant.settle(notBegun);
      signal.throwIfAborted();
      return grant;
    },
    /** The limits of these agents, and the project's. */
    limits: (agents: readonly string[]) => budgetStates(ledger, agents, budgetsOf, now()),
    /**
     * The limit that keeps an agent from starting runs now, or, with an instance id, that run from calling models, until
     * its window turns or it is raised; null for none.
     */
    exhausted: (agent: string, run?: string) =>
      exhaustedState(ledger, { agent, instanceId: run ?? null }, budgetsOf(agent), now()),
    /** The run's spending so far. */
    run: (instanceId: string, agent: string) =>
      runSpend(instanceId, agent, ledger.runAccount(instanceId, now())),
    /**
     * Adds to the limits of `project`, `agent:<name>` or `run:<instance id>` until their windows turn, and to those of an
     * agent's live runs as well. Durable when it resolves.
     */
    raise: async (scope: string, usd: number): Promise<void> => {
      reservations.freed(await raise(scope, usd));
      raised.next(scope);
    },
    /** The run makes no more calls. */
    runEnded: (instanceId: string) => void ledger.apply({ type: "ended", instanceId }, now()),
  };
}

export type SpendMeter = ReturnType<typeof createMeter>;

/** The client hung up before its request was sent. */
const notBegun: CallEnd = {
  status: null,
  usage: null,
  estimated: false,
  usd: null,
  isCut: false,
  isHungUp: false,
  serviceTier: null,
  firstByteMs: null,
  totalMs: 0,
};

interface RaiseDeps {
  readonly store: Pick<SpendStore, "raise">;
  readonly timezone: () => string;
  /** Instance ids of the agent's live runs. */
  readonly liveRuns: (agent: string) => readonly string[];
  /** Epoch ms. */
  readonly now: () => number;
}

/** Adds to the limits of a scope; resolves with its accounts once stored, and reverts the change if storing fails. */
function createRaise(
  ledger: Ledger,
  { store, timezone, liveRuns, now }: RaiseDeps,
): (scope: string, usd: number) => Promise<readonly AccountKey[]> {
  const raiseBy = (scope: string, nano: NanoUsd): readonly AccountKey[] => {
    const runs = scope.startsWith(agentScope(""))
      ? liveRuns(scope.slice(agentScope("").length))
      : [];
    const command = { type: "raise", scope, nano, runs, timezone: timezone() } as const;
    const events = ledger.apply(command, now());
    return events.flatMap((event) => (event.type === "raised" ? event.accounts : []));
  };
  return async (scope, usd) => {
    const nano = nanoOfUsd(usd);
    const accounts = raiseBy(scope, nano);
    try {
      await store.raise(accounts, nano);
    } catch (error) {
      raiseBy(scope, -nano);
      throw error;
    }
    return accounts;
  };
}
