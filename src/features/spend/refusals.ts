import type { LedgerEvent, LedgerRefusal } from "./rules/ledger-events.ts";
import { refusalText } from "./rules/refusal-text.ts";
import type { CallRefusal } from "../../foundation/contracts/model-gateway.ts";

export type Reserved = Extract<LedgerEvent, { type: "reserved" }>;
export type Refused = Extract<LedgerEvent, { type: "refused" }>;
type BudgetRefusal = Extract<LedgerRefusal, { code: "budget_exceeded" }>;

/** Whether open calls hold what the call needs. */
export function isHeld(
  event: Reserved | Refused,
): event is Refused & { readonly refusal: BudgetRefusal } {
  if (event.type === "reserved" || event.refusal.code !== "budget_exceeded") return false;
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
