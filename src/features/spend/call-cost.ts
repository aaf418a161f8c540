import { nanoOfUsd, type NanoUsd } from "../../foundation/contracts/money.ts";
import {
  costOf,
  serviceTierFactor,
  worstRates,
  worstTierFactor,
} from "../../foundation/contracts/price.ts";
import type { CallUsage, Price, WorstRates } from "../../foundation/contracts/price.ts";
import type { BilledUsage, CallEnd, CallPlan } from "../../foundation/contracts/model-gateway.ts";
import type { CallCost, ModelTerms } from "../../foundation/contracts/spend.ts";

/** Above the cost of any call; sums of a self-hosted server's counts stay exact. */
const maxNano = nanoOfUsd(10_000);

const free: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** The most that the call's tokens may cost. */
export function ratesOf(plan: CallPlan, { provider, price, billing }: ModelTerms): WorstRates {
  const charged = billing === "subscription" ? free : price;
  const factor = worstTierFactor(provider, plan.providerModel, plan.serviceTier ?? null);
  return worstRates(charged, factor, plan.longCache === true);
}

/**
 * The cost of a call as OpenRouter reports it, else by its price, and the charge to its budgets: for a call that its run
 * hung up on no less than reserved.
 */
export function costOfEnd(
  plan: CallPlan,
  terms: ModelTerms,
  end: CallEnd,
  reserved: NanoUsd,
): CallCost {
  const reported = terms.provider === "openrouter" ? end.usd : null;
  const seen = reported === null ? costByPrice(plan, terms, end) : nanoOfUsd(reported);
  const nano = Math.min(end.isHungUp ? Math.max(seen, reserved) : seen, maxNano);
  if (terms.billing === "subscription") return { nano, charged: 0, billing: terms.billing };
  return { nano, charged: nano, billing: reported === null ? terms.billing : "priced" };
}

/** The cost of what was sent and seen. */
export function costByPrice(
  { providerModel }: CallPlan,
  { provider, price }: ModelTerms,
  { usage, serviceTier }: BilledUsage,
): NanoUsd {
  const factor = serviceTierFactor(provider, providerModel, serviceTier);
  return usage === null ? 0 : Math.min(costOf(price, usage, factor), maxNano);
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
