import { createSpend } from "../../../src/features/spend/spend-store.ts";
import type { CallEnd, CallPlan } from "../../../src/foundation/contracts/model-gateway.ts";
import type { ModelTerms } from "../../../src/foundation/contracts/spend.ts";
import { createMeter, type MeterDeps } from "../../../src/features/spend/meter.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { budgets, noon } from "./rules/support.ts";

/** A dollar for a million tokens: a thousand nano-dollars each. */
export const terms: ModelTerms = {
  provider: "anthropic",
  price: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
  billing: "priced",
  maxOutputTokens: 64_000,
  requestsPerMinute: null,
};

/** A call without input that asks for 10,000 tokens: a cent. */
export const plan: CallPlan = {
  instanceId: "dev-1",
  agent: "dev",
  model: "claude",
  providerModel: "claude-opus-5",
  requestBytes: 0,
  maxOutputTokens: 10_000,
  minOutputTokens: 1_024,
};

/** How a call ends whose answer has so many tokens. */
export function answered(output: number, more: Partial<CallEnd> = {}): CallEnd {
  return {
    status: 200,
    usage: { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output },
    estimated: false,
    usd: null,
    isCut: false,
    isHungUp: false,
    serviceTier: null,
    firstByteMs: 1,
    totalMs: 2,
    ...more,
  };
}

export const noSignal = new AbortController().signal;

/** A meter over a real store. */
export function tempMeter(deps: Partial<MeterDeps> = {}, store: Store = tempStore()) {
  const errors: unknown[] = [];
  const meter = createMeter({
    store: store.tables(createSpend),
    termsOf: () => Promise.resolve(terms),
    budgetsOf: () => budgets(),
    timezone: () => "UTC",
    liveRuns: () => [],
    now: () => noon,
    onError: (error) => errors.push(error),
    ...deps,
  });
  const begin = async (more: Partial<CallPlan> = {}) => {
    const begun = await meter.begin({ ...plan, ...more }, noSignal);
    if (!begun.granted) throw new Error(begun.detail);
    return begun;
  };
  /** A call that is granted and answered. */
  const charge = async (output: number, end?: Partial<CallEnd>, more?: Partial<CallPlan>) =>
    (await begin(more)).settle(answered(output, end));
  const refusal = async (more: Partial<CallPlan> = {}) => {
    const begun = await meter.begin({ ...plan, ...more }, noSignal);
    if (begun.granted) throw new Error("granted");
    return begun;
  };
  onTestFinished(() => {
    if (errors.length > 0) throw errors[0];
  });
  /** The spending of the run dev-1. */
  const spent = () => meter.run("dev-1", "dev");
  return { meter, store, begin, charge, refusal, spent };
}
