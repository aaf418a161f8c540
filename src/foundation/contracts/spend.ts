import type { AccountKey } from "./budget.ts";
import type { Observable } from "rxjs";
import type { Provider } from "../../../streams/agent-config.ts";
import type { NanoUsd } from "./money.ts";
import type { CallUsage, Price } from "./price.ts";
import type { Meter } from "./model-gateway.ts";

/**
 * How certain the cost of a call is: its price is known; unknown, so that the provider's highest price counts; or a
 * subscription pays for it, and the cost is hypothetical.
 */
type Billing = "priced" | "unpriced" | "subscription";

/** Price and limits of a model. */
export interface ModelTerms {
  readonly provider: Provider;
  readonly price: Price;
  readonly billing: Billing;
  /** The most that an answer may have, in tokens. */
  readonly maxOutputTokens: number;
  /** Null without a limit. */
  readonly requestsPerMinute: number | null;
}

/** A call to a model whose cost is reserved. */
export interface ReservedCall {
  /** Epoch ms. */
  readonly at: number;
  /** Calendar day of the project's time zone, `2026-11-22`. */
  readonly day: string;
  readonly instanceId: string;
  readonly agent: string;
  /** The model's name in the project's config. */
  readonly model: string;
  readonly providerModel: string;
  readonly billing: Billing;
  readonly reserved: NanoUsd;
  /** The cost of what was sent, which is charged if the scheduler dies before it has seen more. */
  readonly seen: NanoUsd;
  /** The accounts that are charged; the first is the run's. */
  readonly accounts: readonly AccountKey[];
}

/** How a call to a model ended. */
export interface SettledCall {
  /** The id that `SpendStore.reserve` returned. */
  readonly seq: number;
  /** HTTP status of the provider; null when it gave no answer. */
  readonly status: number | null;
  /** `priced` if the provider reported the cost. */
  readonly billing: Billing;
  readonly usage: CallUsage | null;
  readonly estimated: boolean;
  /** The cost by price, even if a subscription pays. */
  readonly nano: NanoUsd;
  /** The amount that its accounts are charged. */
  readonly charged: NanoUsd;
  readonly reserved: NanoUsd;
  /** Whether the model answered. */
  readonly isTurn: boolean;
  readonly firstByteMs: number | null;
  readonly totalMs: number;
  readonly accounts: readonly AccountKey[];
}

/** Input of an agent's forecast. */
export interface AgentRuns {
  /** Costs of the agent's last ended runs that called a model, the latest first. */
  readonly costs: readonly NanoUsd[];
  /** Runs of 30 days that webhooks and calls start, by the rate of the last 30. */
  readonly triggered: number;
}

/** The spending of a run so far. */
export interface RunSpend {
  readonly instanceId: string;
  readonly agent: string;
  readonly usd: number;
  readonly reservedUsd: number;
  /** Answers of models, and calls that wait for one. */
  readonly turns: number;
  /** Tokens of requests and answers, including cached ones. */
  readonly tokens: number;
}

/** A call to a model that is over. */
export interface MeteredCall extends Pick<
  SettledCall,
  "seq" | "status" | "usage" | "firstByteMs" | "totalMs"
> {
  readonly instanceId: string;
  readonly agent: string;
  /** The model's name in the project's config. */
  readonly model: string;
  readonly provider: Provider;
  readonly providerModel: string;
  /** Epoch ms. */
  readonly endedAt: number;
  /** Whether the scheduler stopped reading before the usage came. */
  readonly isCut: boolean;
  /** The amount that its budgets are charged. */
  readonly usd: number;
}

/** Spending that passed a percentage of its limit, once a window. */
export interface BudgetWarning {
  /** `project`, `agent:<name>` or `run:<instance id>`. */
  readonly scope: string;
  readonly window: string;
  readonly percent: number;
  readonly usd: number;
  readonly limitUsd: number;
}

/** A limit and the spending against it, in USD. */
export interface BudgetState {
  readonly scope: string;
  readonly window: string;
  /** Epoch ms at which the window turns. */
  readonly endsAt: number | null;
  readonly usd: number;
  readonly reserved: number;
  /** Including raises; null for no limit. */
  readonly limit: number | null;
  /** The least that its last rejected call needs, while the limit can't pay it; else absent. */
  readonly needed?: number;
}

/** Whether the budgets of a run can pay its model after a rejected call. */
export type RunFunds =
  | {
      readonly type: "short";
      /** Epoch ms at which the window of the limit turns; null for the limit of a run. */
      readonly endsAt: number | null;
      /** Which limit the run waits for, and until when: for people. */
      readonly text: string;
    }
  | { readonly type: "paid" }
  /** The agent's runs stop at their limits. */
  | { readonly type: "stops" };

/** A meter that emits spending. */
export interface SpendMeter extends Meter {
  readonly spent$: Observable<RunSpend>;
  readonly call$: Observable<MeteredCall>;
  readonly warning$: Observable<BudgetWarning>;
  /** Agents of calls that a budget could not pay. */
  readonly refused$: Observable<string>;
  /** Scopes whose limits a person raised. */
  readonly raised$: Observable<string>;
  /** The limits of these agents, and the project's. */
  limits(agents: readonly string[]): readonly BudgetState[];
  /**
   * The limit that keeps an agent from starting runs now, or, with an instance id, that run from calling models, until
   * its window turns or it is raised; null for none.
   */
  exhausted(agent: string, instanceId?: string): BudgetState | null;
  /** The run's spending so far. */
  run(instanceId: string, agent: string): RunSpend;
  /**
   * Adds to the limits of `project`, `agent:<name>` or `run:<instance id>` until their windows turn, and to those of an
   * agent's live runs as well. Durable when it resolves.
   */
  raise(scope: string, usd: number): Promise<void>;
  /** The run makes no more calls. */
  runEnded(instanceId: string): void;
}
