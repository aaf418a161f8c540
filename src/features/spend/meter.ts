import { Subject } from "rxjs";
import { agentScope, type AccountKey } from "../../foundation/contracts/budget.ts";
import { createLedger, type Ledger } from "./rules/ledger.ts";
import { nanoOfUsd, type NanoUsd } from "../../foundation/contracts/money.ts";
import { createCalendar } from "./rules/accounts.ts";
import type { CallEnd, CallPlan, Meter } from "../../foundation/contracts/model-gateway.ts";
import type { ModelTerms } from "../../foundation/contracts/spend.ts";
import { budgetStates, exhaustedState, runSpend } from "./budget-states.ts";
import { costByPrice } from "./call-cost.ts";
import { createGrants, type GrantDeps } from "./grants.ts";
import { usageOfRequest } from "./rules/input-estimate.ts";
import { createRateLimits } from "./rate-limits.ts";
import { rateLimited, refused, waitText, type Reserved } from "./refusals.ts";
import { createReservations } from "./reserve-money.ts";

export interface MeterDeps extends GrantDeps {
  /** The terms of a model, by its name in the project's config and the provider's id. */
  readonly termsOf: (model: string, providerModel: string) => Promise<ModelTerms>;
  /** Time zone of the project, IANA name. */
  readonly timezone: () => string;
  /** Instance ids of the agent's live runs. */
  readonly liveRuns: (agent: string) => readonly string[];
  /** A call waits for its turn; the text is for the log of its run. */
  readonly onWait?: (plan: CallPlan, text: string) => void;
  /** Epoch ms. */
  readonly now?: () => number;
}

/**
 * Meters the calls of runs to models: reserves the highest cost of a call in memory, stores it, and only then grants the call.
 */
export function createMeter(deps: MeterDeps) {
  const { store, budgetsOf, now = Date.now } = deps;
  const ledger = createLedger((scope, window) => store.account(scope, window));
  const reservations = createReservations(ledger, budgetsOf, now);
  const { grant, ...granted } = createGrants(deps, ledger, reservations, now);
  const rateLimits = createRateLimits();
  const calendar = createCalendar();
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
  const raise = createRaise(ledger, deps, now);

  return {
    ...granted,
    /** Agents of calls that a budget could not pay. */
    refused$: refusedAgent.asObservable(),
    /** Scopes whose limits a person raised. */
    raised$: raised.asObservable(),
    begin: async (plan: CallPlan, signal: AbortSignal): ReturnType<Meter["begin"]> => {
      const { model, instanceId, agent } = plan;
      const terms = await deps.termsOf(model, plan.providerModel);
      const { requestsPerMinute } = terms;
      const onWait = (ms: number) => deps.onWait?.(plan, waitText(model, requestsPerMinute, ms));
      const turn = { model, perMinute: requestsPerMinute, instanceId };
      const tooLate = await rateLimits.turn(turn, signal, onWait);
      if (tooLate !== null) return rateLimited(model, requestsPerMinute, tooLate);
      const event = await reservations.reserve(plan, terms, signal);
      if (event.type === "refused") {
        if (event.refusal.code === "budget_exceeded") refusedAgent.next(agent);
        return refused(event.refusal);
      }
      const seq = await commit(plan, terms, event);
      const call = grant({ plan, terms, reserved: event, seq });
      if (signal.aborted) call.settle(notBegun);
      signal.throwIfAborted();
      return call;
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

/** Adds to the limits of a scope; resolves with its accounts once stored, and reverts the change if storing fails. */
function createRaise(
  ledger: Ledger,
  { store, timezone, liveRuns }: MeterDeps,
  now: () => number,
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
