import type { AccountKey } from "./budget.ts";
import type { Provider } from "../../../streams/agent-config.ts";
import type { NanoUsd } from "./money.ts";
import type { CallUsage, Price } from "./price.ts";

/**
 * How certain the cost of a call is: its price is known; unknown, so that the provider's highest price counts; or a
 * subscription pays for it, and the cost is hypothetical.
 */
export type Billing = "priced" | "unpriced" | "subscription";

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

/** The cost of a call to a model. */
export interface CallCost {
  /** `priced` if the provider reported the cost. */
  readonly billing: Billing;
  /** The cost by price, even if a subscription pays. */
  readonly nano: NanoUsd;
  /** The amount that its accounts are charged. */
  readonly charged: NanoUsd;
}

interface EndedCall {
  /** The id that `SpendStore.reserve` returned. */
  readonly seq: number;
  /** HTTP status of the provider; null when it gave no answer. */
  readonly status: number | null;
  readonly usage: CallUsage | null;
  readonly firstByteMs: number | null;
  readonly totalMs: number;
}

/** How a call to a model ended. */
export interface SettledCall extends CallCost, EndedCall {
  readonly estimated: boolean;
  readonly reserved: NanoUsd;
  /** Whether the model answered. */
  readonly isTurn: boolean;
  readonly accounts: readonly AccountKey[];
}

/** A call to a model that is over. */
export interface MeteredCall extends EndedCall {
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
