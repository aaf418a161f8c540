import { Subject } from "rxjs";
import type { Budgets } from "../../streams/spend/budget.ts";
import { agentScope } from "../../streams/spend/budget.ts";
import { createLedger } from "../../streams/spend/ledger.ts";
import type { LedgerEvent, LedgerRefusal, RunTotals } from "../../streams/spend/ledger-events.ts";
import { nanoOfUsd, usdOfNano } from "../../streams/spend/money.ts";
import { inputOf } from "../../streams/spend/price.ts";
import { refusalText } from "../../streams/spend/refusal-text.ts";
import { createCalendar } from "../../streams/spend/windows.ts";
import type { CallEnd, CallGrant, CallPlan, CallRefusal } from "../contracts/model-gateway.ts";
import type {
  BudgetWarning,
  ModelTerms,
  RunSpend,
  SpendMeter,
  SpendStore,
} from "../contracts/spend.ts";
import { budgetStates, exhaustedState } from "./budget-states.ts";
import { costOfEnd, ratesOf, wholeUsage } from "./call-cost.ts";
import { createHeldMoney } from "./held-money.ts";
import type { Attempt } from "./held-money.ts";
import { createRateLimits } from "./rate-limits.ts";

export interface MeterDeps {
  readonly store: SpendStore;
  /** Of a model of the project's config, by its name there and the provider's id. */
  readonly termsOf: (model: string, providerModel: string) => Promise<ModelTerms>;
  /** As they are now. */
  readonly budgetsOf: (agent: string) => Budgets;
  /** The project's, IANA name. */
  readonly timezone: () => string;
  /** Instance ids of the agent's runs that are not over. */
  readonly liveRuns: (agent: string) => readonly string[];
  /** A write that no caller waits for failed for good. */
  readonly onError: (error: unknown) => void;
  /** Epoch ms. */
  readonly now?: () => number;
}

type Reserved = Extract<LedgerEvent, { type: "reserved" }>;
type Refused = Extract<LedgerEvent, { type: "refused" }>;

/** How long a call waits for what open calls hold, in ms: its client waits for the answer as long as ten minutes. */
const longestHeldMs = 120_000;

/**
 * Meters the calls of runs to models: reserves in memory what a call may cost, stores it, and only then grants the call.
 */
export function createMeter(deps: MeterDeps): SpendMeter {
  const { store, termsOf, budgetsOf, onError, now = Date.now } = deps;
  const ledger = createLedger((scope, window) => store.account(scope, window));
  const rateLimits = createRateLimits();
  const held = createHeldMoney<Reserved | Refused>(longestHeldMs);
  const spent = new Subject<RunSpend>();
  const warning = new Subject<BudgetWarning>();
  const calendar = createCalendar();
  let calls = 0;

  const emitSpent = (
    { instanceId, agent }: Pick<CallPlan, "instanceId" | "agent">,
    run: RunTotals,
  ) => spent.next(runSpend(instanceId, agent, run));

  const reserve = (plan: CallPlan, terms: ModelTerms, signal: AbortSignal) => {
    const call = `${++calls}`;
    const once = (): Reserved | Refused => {
      const { instanceId, agent, requestBytes, maxOutputTokens, minOutputTokens } = plan;
      const rates = ratesOf(plan, terms);
      const tokens = { maxOutputTokens, minOutputTokens, modelMaxTokens: terms.maxOutputTokens };
      const who = { call, instanceId, agent, budgets: budgetsOf(agent) };
      const command = { type: "reserve", ...who, requestBytes, ...tokens, rates } as const;
      const [event] = ledger.apply(command, now());
      if (event?.type === "reserved" || event?.type === "refused") return event;
      throw new Error("a ledger neither reserved nor refused");
    };
    const attempt: Attempt<Reserved | Refused> = () => {
      const event = once();
      return isHeld(event) ? { heldBy: event.refusal } : { result: event };
    };
    return held.get(attempt, once, signal);
  };

  const cancel = (plan: CallPlan, { call, accounts }: Reserved): void => {
    const none = { nano: 0, inputTokens: null, isTurn: false, budgets: budgetsOf(plan.agent) };
    ledger.apply({ type: "settle", call, ...none }, now());
    held.freed(accounts);
  };
  /** Resolves with the number of the stored call. */
  const commit = async (plan: CallPlan, terms: ModelTerms, event: Reserved): Promise<number> => {
    const at = now();
    const { instanceId, agent, model, providerModel } = plan;
    const day = calendar(at, budgetsOf(agent).timezone).day.key;
    const names = { instanceId, agent, model, providerModel };
    const { nano: reserved, accounts } = event;
    try {
      const { billing } = terms;
      return await store.reserve({ at, day, ...names, billing, reserved, accounts });
    } catch (error) {
      cancel(plan, event);
      throw error;
    }
  };

  const settle = (
    plan: CallPlan,
    terms: ModelTerms,
    event: Reserved,
    seq: number,
    given: CallEnd,
  ) => {
    const usage = given.usage === null ? null : wholeUsage(given.usage);
    const end = { ...given, usage };
    const { nano, charged } = costOfEnd(plan, terms, end);
    const inputTokens = usage === null || end.estimated ? null : inputOf(usage);
    const isTurn = usage !== null;
    const { call, nano: reserved, accounts } = event;
    const budgets = budgetsOf(plan.agent);
    const command = { type: "settle", call, nano: charged, inputTokens, isTurn, budgets } as const;
    const { status, estimated, firstByteMs, totalMs } = end;
    const times = { firstByteMs, totalMs };
    const amounts = { nano, charged, reserved, isTurn };
    store.settle({ seq, status, usage, estimated, ...amounts, ...times, accounts }).catch(onError);
    ledger.apply(command, now()).forEach((one) => onEvent(plan, one));
    held.freed(accounts);
  };
  const onEvent = (plan: CallPlan, event: LedgerEvent): void => {
    if (event.type === "settled") emitSpent(plan, event.run);
    if (event.type !== "warned") return;
    const { account, percent, spent: nano, cap } = event;
    store.recordWarning(account, percent).catch(onError);
    const { scope, window } = account;
    const amounts = { usd: usdOfNano(nano), limitUsd: usdOfNano(cap) };
    warning.next({ scope, window, percent, ...amounts });
  };
  const granted = (plan: CallPlan, terms: ModelTerms, event: Reserved, seq: number): CallGrant => {
    let isOpen = true;
    return {
      granted: true,
      maxOutputTokens: event.maxOutputTokens,
      settle: (end) => {
        if (!isOpen) return;
        isOpen = false;
        settle(plan, terms, event, seq, end);
      },
    };
  };

  return {
    spent$: spent.asObservable(),
    warning$: warning.asObservable(),
    begin: async (plan, signal) => {
      const terms = await termsOf(plan.model, plan.providerModel);
      const tooLate = await rateLimits.turn(plan.model, terms.requestsPerMinute, signal);
      if (tooLate !== null) return rateLimited(plan.model, terms.requestsPerMinute, tooLate);
      const event = await reserve(plan, terms, signal);
      if (event.type === "refused") return refused(event.refusal);
      const seq = await commit(plan, terms, event);
      const grant = granted(plan, terms, event, seq);
      emitSpent(plan, event.run);
      if (signal.aborted) grant.settle(notBegun);
      signal.throwIfAborted();
      return grant;
    },
    limits: (agents) => budgetStates(ledger, agents, budgetsOf, now()),
    exhausted: (agent) => exhaustedState(ledger, agent, budgetsOf(agent), now()),
    run: (instanceId, agent) => runSpend(instanceId, agent, ledger.runAccount(instanceId, now())),
    raise: async (scope, usd) => {
      const agents = scope.startsWith(agentScope("")) ? [scope.slice(agentScope("").length)] : [];
      const runs = agents.flatMap(deps.liveRuns);
      const raise = (nano: number): LedgerEvent[] => {
        const command = { type: "raise", scope, nano, runs, timezone: deps.timezone() } as const;
        return [...ledger.apply(command, now())];
      };
      const nano = nanoOfUsd(usd);
      const accounts = raise(nano).flatMap((event) =>
        event.type === "raised" ? event.accounts : [],
      );
      try {
        await store.raise(accounts, nano);
      } catch (error) {
        raise(-nano);
        throw error;
      }
      held.freed(accounts);
    },
    runEnded: (instanceId) => void ledger.apply({ type: "ended", instanceId }, now()),
  };
}

/** The client hung up before its request was sent. */
const notBegun: CallEnd = {
  status: null,
  usage: null,
  estimated: false,
  serviceTier: null,
  firstByteMs: null,
  totalMs: 0,
};

function isHeld(event: Reserved | Refused): event is Refused & {
  readonly refusal: Extract<LedgerRefusal, { code: "budget_exceeded" }>;
} {
  if (event.type === "reserved" || event.refusal.code !== "budget_exceeded") return false;
  return event.refusal.mayComeBack;
}

function refused(refusal: LedgerRefusal): CallRefusal {
  return { granted: false, code: refusal.code, detail: refusalText(refusal) };
}

function rateLimited(model: string, perMinute: number | null, waitMs: number): CallRefusal {
  const limit = `requestsPerMinute = ${perMinute ?? 0} of model ${model}`;
  const seconds = Math.ceil(waitMs / 1000);
  const detail = `${limit} is reached by calls that wait already; try again in ${seconds} s`;
  return { granted: false, code: "rate_limited", detail };
}

function runSpend(instanceId: string, agent: string, totals: RunTotals): RunSpend {
  const { spent, reserved, turns } = totals;
  return { instanceId, agent, usd: usdOfNano(spent), reservedUsd: usdOfNano(reserved), turns };
}
