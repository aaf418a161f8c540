import { nanoOfUsd, type NanoUsd } from "../../foundation/contracts/money.ts";
import {
  costOf,
  serviceTierFactor,
  worstRates,
  worstTierFactor,
} from "../../foundation/contracts/price.ts";
import type { CallUsage, Price, WorstRates } from "../../foundation/contracts/price.ts";
import type { CallEnd, CallPlan } from "../../foundation/contracts/model-gateway.ts";
import type { ModelTerms } from "../../foundation/contracts/spend.ts";

/** Above the cost of any call; sums of a self-hosted server's counts stay exact. */
const maxNano = nanoOfUsd(10_000);

const free: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** The most that the call's tokens may cost. */
export function ratesOf(plan: CallPlan, { provider, price, billing }: ModelTerms): WorstRates {
  const charged = billing === "subscription" ? free : price;
  const factor = worstTierFactor(provider, plan.providerModel, plan.serviceTier ?? null);
  return worstRates(charged, factor, plan.longCache === true);
}

/** The cost of a call by its price, and the charge to its budgets: for a cut call no less than reserved. */
export function costOfEnd(
  { providerModel }: CallPlan,
  { provider, price, billing }: ModelTerms,
  { usage, serviceTier, isCut }: CallEnd,
  reserved: NanoUsd,
): { readonly nano: NanoUsd; readonly charged: NanoUsd } {
  const factor = serviceTierFactor(provider, providerModel, serviceTier);
  const seen = usage === null ? 0 : Math.min(costOf(price, usage, factor), maxNano);
  const nano = isCut ? Math.max(seen, reserved) : seen;
  return { nano, charged: billing === "subscription" ? 0 : nano };
}

/** The tokens as whole numbers: a self-hosted server may count anything. */
export function wholeUsage(usage: CallUsage): CallUsage {
  const whole = (tokens: number): number =>
    Number.isFinite(tokens) ? Math.min(Math.max(0, Math.ceil(tokens)), maxTokens) : 0;
  return {
    input: whole(usage.input),
    cacheRead: whole(usage.cacheRead),
    cacheWrite: whole(usage.cacheWrite),
    cacheWrite1h: whole(usage.cacheWrite1h),
    output: whole(usage.output),
  };
}

/** More than any model takes. */
const maxTokens = 1e9;
