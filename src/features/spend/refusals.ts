import type { BudgetRefusal, LedgerEvent, LedgerRefusal } from "./rules/ledger-events.ts";
import type { CallRefusal } from "../../foundation/contracts/model-gateway.ts";
import {
  raiseCommand,
  runScope,
  usedUpText,
  type UsedUp,
} from "../../foundation/contracts/budget.ts";
import { momentText } from "../../foundation/contracts/format.ts";

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
  const reached = `${rateOf(model, perMinute)} is used up by calls that wait already`;
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
    return `this run has used the ${turns} model answers that its budget allows (turns = ${turns})`;
  }
  return `${usedUpText(refusal)}. ${remedyOf(refusal)}`;
}

/** For a person: why no run is started. */
export function notStartedText(budget: UsedUp): string {
  return `budget: ${usedUpText(budget)}. ${remedyOf(budget)}`;
}

/** For a person: which budget a suspended run waits for, and until when. */
export function waitsForMoneyText(budget: UsedUp): string {
  const { scope, endsAt } = budget;
  const until = endsAt === null ? "" : ` until ${momentText(endsAt)}`;
  return `waits for money${until}: ${usedUpText(budget)}. Raise it: ${raiseCommand(scope)}`;
}

/** A run ends with its own budget: that can't be raised any more when a person reads this. */
function remedyOf({ scope, endsAt }: { readonly scope: string; readonly endsAt: number | null }) {
  if (scope.startsWith(runScope("")))
    return "Raise `run` in the agent's [budget], then al replay <entry>";
  const resets = endsAt === null ? "" : `Resets ${momentText(endsAt)}. `;
  return `${resets}To raise it now: ${raiseCommand(scope)}`;
}
