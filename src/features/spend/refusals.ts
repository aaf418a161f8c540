import type { BudgetRefusal, LedgerEvent, LedgerRefusal } from "./rules/ledger-events.ts";
import type { CallRefusal } from "../../foundation/contracts/model-gateway.ts";
import type { AccountKey } from "../../foundation/contracts/budget.ts";
import {
  projectScope,
  neededText,
  raiseCommand,
  runScope,
  agentOf,
} from "../../foundation/contracts/budget.ts";
import { momentText } from "../../foundation/contracts/format.ts";
import { usdText, type NanoUsd } from "../../foundation/contracts/money.ts";

export type Reserved = Extract<LedgerEvent, { type: "reserved" }>;
export type Refused = Extract<LedgerEvent, { type: "refused" }>;

/** Whether open calls hold the money that the call needs. */
export function isHeld(
  event: Reserved | Refused,
): event is Refused & { readonly refusal: BudgetRefusal } {
  if (event.type === "reserved" || event.refusal.code === "too_many_turns") return false;
  return event.refusal.mayComeBack;
}

/** The refusal of a ledger, for the gateway. */
export function refused(refusal: LedgerRefusal): CallRefusal {
  return { granted: false, code: refusal.code, detail: refusalText(refusal) };
}

/** The refusal of a call whose turn would come too late; `waitMs` is when to come back. */
export function rateLimited(model: string, perMinute: number | null, waitMs: number): CallRefusal {
  const reached = `${rateOf(model, perMinute)} is reached by calls that wait already`;
  return {
    granted: false,
    code: "rate_limited",
    detail: `${reached}; try again in ${secondsOf(waitMs)}`,
  };
}

/** For the log of a run whose call waits for its turn. */
export function waitText(model: string, perMinute: number | null, waitMs: number): string {
  return `${rateOf(model, perMinute)} is reached: the call begins in about ${secondsOf(waitMs)}`;
}

function rateOf(model: string, perMinute: number | null): string {
  return `requestsPerMinute = ${perMinute ?? 0} of model ${model}`;
}

function secondsOf(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}

/** For a person: which budget can't pay, by how much, until when, and the command that raises it. */
export function refusalText(refusal: LedgerRefusal): string {
  if (refusal.code === "too_many_turns") {
    const { turns } = refusal;
    return `this run had the ${turns} answers of models that its budget allows (turns = ${turns})`;
  }
  const { scope, window, cap, spent, reserved, needed } = refusal;
  const held = reserved === 0 ? "" : ` and ${usdText(reserved)} is reserved by open calls`;
  const amounts = `${usdText(spent)} of ${usdText(cap)} is spent${held}`;
  return `${ownerOf(scope, window)}: ${amounts}; ${neededText(needed)}. ${remedyOf(refusal)}`;
}

/** For a person: which budget is used up, and why no run is started; amounts in nano-dollars. */
export function usedUpText({ scope, window, endsAt, spent, cap, needed }: UsedUp): string {
  const amounts = `${usdText(spent)} of ${usdText(cap)} is spent`;
  return `budget: ${ownerOf(scope, window)} is used up: ${amounts}${needs(needed)}. ${remedyOf({ scope, endsAt })}`;
}

/** For a person: which budget a suspended run waits for, and until when; amounts in nano-dollars. */
export function waitsForMoneyText({ scope, window, endsAt, spent, cap, needed }: UsedUp): string {
  const until = endsAt === null ? "" : ` until ${momentText(endsAt)}`;
  const limit = `${ownerOf(scope, window)} (${usdText(spent)} of ${usdText(cap)})`;
  return `waits for money${until}: ${limit}${needs(needed)}; ${raiseCommand(scope)}`;
}

function needs(needed: NanoUsd | undefined): string {
  return needed === undefined ? "" : `; ${neededText(needed)}`;
}

/** A budget that pays no call. */
export interface UsedUp extends AccountKey {
  readonly spent: NanoUsd;
  readonly cap: NanoUsd;
  /** The least that the rejected call needs; absent if all is spent. */
  readonly needed?: NanoUsd;
}

/** Whose budget it is, and for which window. */
export function ownerOf(scope: string, window: string): string {
  if (scope === projectScope) return `the project's budget for ${window}`;
  const agent = agentOf(scope);
  return agent === null ? "this run's budget" : `the budget of agent ${agent} for ${window}`;
}

/** A run ends with its own budget: that can't be raised any more when a person reads this. */
function remedyOf({ scope, endsAt }: { readonly scope: string; readonly endsAt: number | null }) {
  if (scope.startsWith(runScope("")))
    return "A person can raise `run` in the agent's [budget], then al replay <entry>";
  const turns = endsAt === null ? "" : ` before it turns at ${momentText(endsAt)}`;
  return `A person can raise it${turns}: ${raiseCommand(scope)}`;
}
