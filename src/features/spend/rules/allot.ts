import { capOf, type LimitedAccount } from "./accounts.ts";
import type { NanoUsd } from "../../../foundation/contracts/money.ts";
import { costAt, tokensFor, type WorstRates } from "../../../foundation/contracts/price.ts";

/** The tokens that a call may need. */
export interface Claim {
  readonly rates: WorstRates;
  readonly inputTokens: number;
  /** Limit in the request; null without one. */
  readonly maxOutputTokens: number | null;
  /** Maximum of the model. */
  readonly modelMaxTokens: number;
  /** Minimum of a useful answer. */
  readonly minOutputTokens: number;
}

/** The tokens that a call gets. */
export interface Allotment {
  readonly nano: NanoUsd;
  /** Limit to set on the request; null leaves it as asked. */
  readonly maxOutputTokens: number | null;
}

/** An account that can't pay the least that a call needs. */
export interface Shortage {
  readonly short: LimitedAccount;
  readonly needed: NanoUsd;
  /** Whether the account could pay if open calls cost nothing. */
  readonly mayComeBack: boolean;
}

/** An account with more than this many times the call's highest cost is not shared. */
const farFromCap = 10;

/**
 * The money that a call gets: its highest cost while each account has plenty, else an equal share among open calls, but
 * at least its minimum.
 */
export function allot(claim: Claim, accounts: readonly LimitedAccount[]): Allotment | Shortage {
  const { rates, maxOutputTokens, modelMaxTokens } = claim;
  const input = costAt(rates.input, claim.inputTokens);
  const wanted = maxOutputTokens ?? modelMaxTokens;
  const least = Math.min(claim.minOutputTokens, wanted);
  const full = input + costAt(rates.output, wanted);
  const near = full === 0 ? [] : accounts.filter((one) => leftOf(one) <= farFromCap * full);
  const needed = input + costAt(rates.output, least);
  const short = near.filter((one) => leftOf(one) < needed);
  if (short.length > 0) return shortageOf(short, needed);
  const shares = near.map((one) => {
    const share = Math.floor(leftOf(one) / (one.account.open + 1));
    return Math.max(least, tokensFor(rates.output, share - input));
  });
  const tokens = Math.min(wanted, ...shares);
  const isAsAsked = near.length === 0 || tokens === maxOutputTokens;
  return { nano: input + costAt(rates.output, tokens), maxOutputTokens: isAsAsked ? null : tokens };
}

/** Money left; Infinity without a limit, negative when a call cost more than reserved or the limit was lowered. */
function leftOf(one: LimitedAccount): NanoUsd {
  const cap = capOf(one);
  return cap === null ? Infinity : cap - one.account.spent - one.account.reserved;
}

/** The account that open calls can't help comes first. */
function shortageOf(short: readonly LimitedAccount[], needed: NanoUsd): Shortage {
  const spent = short.find((one) => leftOf(one) + one.account.reserved < needed);
  const [first] = short;
  const binding = spent ?? first;
  if (binding === undefined) throw new Error("every account has enough money");
  return { short: binding, needed, mayComeBack: spent === undefined };
}
