import type { Claim } from "./allot.ts";
import type { Budgets, AccountKey } from "../../../foundation/contracts/budget.ts";
import type { NanoUsd } from "../../../foundation/contracts/money.ts";

/** Before a call begins. */
export interface ReserveCommand extends Omit<Claim, "inputTokens"> {
  readonly type: "reserve";
  /** Names the call; unique. */
  readonly call: string;
  readonly instanceId: string;
  readonly agent: string;
  readonly requestBytes: number;
  /** Limit of spending without a person's approval; null without a gate. */
  readonly approved: NanoUsd | null;
  /** Current budgets: the config may change between two calls. */
  readonly budgets: Budgets;
}

/** After a call that was granted. */
export interface SettleCommand {
  readonly type: "settle";
  readonly call: string;
  readonly nano: NanoUsd;
  /** Tokens of the request as the provider counted them; null when it did not. */
  readonly inputTokens: number | null;
  /** Whether the model answered. */
  readonly isTurn: boolean;
  /** Tokens of the request and its answer. */
  readonly tokens: number;
  readonly budgets: Budgets;
}

/** A person adds to a limit until its window turns. */
export interface RaiseCommand {
  readonly type: "raise";
  /** `project`, `agent:<name>` or `run:<instance id>`. */
  readonly scope: string;
  readonly nano: NanoUsd;
  /** Live runs of an agent that is raised: their own limits are raised with it. */
  readonly runs: readonly string[];
  /** IANA name. */
  readonly timezone: string;
}

export type LedgerCommand =
  | ReserveCommand
  | SettleCommand
  | RaiseCommand
  /** The run makes no more calls; open ones are still settled. */
  | { readonly type: "ended"; readonly instanceId: string };

/** A budget that can't pay a call, or the amount that a person approved, which is not raised with the budget. */
export interface BudgetRefusal extends AccountKey {
  readonly code: "budget_exceeded" | "not_approved";
  readonly cap: NanoUsd;
  readonly spent: NanoUsd;
  readonly reserved: NanoUsd;
  /** The least that the call needs. */
  readonly needed: NanoUsd;
  /** Whether the account could pay if open calls cost nothing. */
  readonly mayComeBack: boolean;
}

/** A run that used up its turns. */
export interface TurnsRefusal {
  readonly code: "too_many_turns";
  readonly turns: number;
}

export type LedgerRefusal = BudgetRefusal | TurnsRefusal;

/** The run's own account after an event. */
export interface RunTotals {
  readonly spent: NanoUsd;
  readonly reserved: NanoUsd;
  readonly turns: number;
  readonly tokens: number;
}

export type LedgerEvent =
  | {
      readonly type: "reserved";
      readonly call: string;
      readonly nano: NanoUsd;
      /** Limit to set on the request, in tokens; null leaves it as asked. */
      readonly maxOutputTokens: number | null;
      /** The first is that of the run. */
      readonly accounts: readonly AccountKey[];
      readonly run: RunTotals;
    }
  | { readonly type: "refused"; readonly call: string; readonly refusal: LedgerRefusal }
  | {
      readonly type: "settled";
      readonly call: string;
      readonly nano: NanoUsd;
      readonly reserved: NanoUsd;
      readonly isTurn: boolean;
      readonly accounts: readonly AccountKey[];
      readonly run: RunTotals;
    }
  | { readonly type: "raised"; readonly nano: NanoUsd; readonly accounts: readonly AccountKey[] }
  | {
      readonly type: "warned";
      readonly account: AccountKey;
      /** The highest of `warnAt` that was passed. */
      readonly percent: number;
      readonly spent: NanoUsd;
      readonly cap: NanoUsd;
    };
