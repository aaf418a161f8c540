import type { Rates } from "../../../streams/agent-config.ts";
import type { NanoUsd } from "./money.ts";

/** The rates of a model. */
export interface Price extends Rates {
  /** The tier with the highest threshold that the request's input exceeds is the price of the whole request. */
  readonly tiers?: readonly (Rates & { readonly inputTokensAbove: number })[];
}

/** Tokens of one call as they are billed. */
export interface CallUsage {
  /** Without cached tokens, read or written. */
  readonly input: number;
  readonly cacheRead: number;
  /** All cache writes, including those for one hour. */
  readonly cacheWrite: number;
  /** Cache writes for one hour, which cost more. */
  readonly cacheWrite1h: number;
  /** Including thinking. */
  readonly output: number;
}

/**
 * Cost of one token in 10^-16 USD, an integer: exact for prices of up to nine decimals and for factors of a tenth,
 * unlike floating-point dollars.
 */
type TokenRate = bigint;

/** Rates are kept in 10^-15 USD and multiplied by a factor in tenths. */
const ratePerUsdPerMillion = 1e9;
const factorScale = 10;
const ratesPerNano = 10_000_000n;

/** Anthropic bills a cache entry for one hour at twice the input; source: its page on prompt caching. */
const longWriteFactor = 2n;

/** Total tokens of the request. */
export function inputOf({ input, cacheRead, cacheWrite }: CallUsage): number {
  return input + cacheRead + cacheWrite;
}

/**
 * The cost of a call; `factor` is that of its service tier. Rounded up to a whole nano-dollar, so that a reservation is
 * never less than the cost.
 */
export function costOf(price: Price, usage: CallUsage, factor = 1): NanoUsd {
  const rates = ratesAt(price, inputOf(usage));
  const of = (usd: number, tokens: number): bigint => tokenRate(usd, factor) * BigInt(tokens);
  const longWrite = Math.min(usage.cacheWrite1h, usage.cacheWrite);
  const total =
    of(rates.input, usage.input) +
    of(rates.output, usage.output) +
    of(rates.cacheRead, usage.cacheRead) +
    of(rates.cacheWrite, usage.cacheWrite - longWrite) +
    of(rates.input, longWrite) * longWriteFactor;
  return wholeNano(total);
}

/** The highest cost of a token. */
export interface WorstRates {
  readonly input: TokenRate;
  readonly output: TokenRate;
}

/** `longCache`: the request may write cache entries for one hour. */
export function worstRates(price: Price, factor: number, longCache: boolean): WorstRates {
  const all = [price, ...(price.tiers ?? [])];
  const worst = (usdOf: (rates: Rates) => readonly number[]): TokenRate =>
    tokenRate(Math.max(...all.flatMap(usdOf)), factor);
  const short = worst(({ input, cacheRead, cacheWrite }) => [input, cacheRead, cacheWrite]);
  const long = worst(({ input }) => [input]) * longWriteFactor;
  return { input: longCache && long > short ? long : short, output: worst((one) => [one.output]) };
}

/** The cost of a number of tokens. */
export function costAt(rate: TokenRate, tokens: number): NanoUsd {
  return wholeNano(rate * BigInt(tokens));
}

/** How many tokens an amount pays; Infinity if they are free. */
export function tokensFor(rate: TokenRate, nano: NanoUsd): number {
  if (nano < 0) return 0;
  return rate === 0n ? Infinity : Number((BigInt(nano) * ratesPerNano) / rate);
}

/**
 * The factor for a call in one of OpenAI's service tiers; source: its page on prices. Other providers' tiers cost the
 * same per token.
 */
export function serviceTierFactor(
  provider: string,
  providerModel: string,
  serviceTier: string | null,
): number {
  if (provider !== "openai") return 1;
  if (serviceTier === "flex") return 0.5;
  if (serviceTier !== "priority") return 1;
  return providerModel === "gpt-5.5" ? 2.5 : 2;
}

/** The highest factor of a request for a tier: with `auto`, OpenAI decides by the settings of its project. */
export function worstTierFactor(
  provider: string,
  providerModel: string,
  asked: string | null,
): number {
  const tier = asked === "auto" ? "priority" : asked;
  // A request for a cheaper tier may be served in the usual one.
  return Math.max(1, serviceTierFactor(provider, providerModel, tier));
}

function ratesAt({ tiers = [], ...base }: Price, inputTokens: number): Rates {
  const exceeded = tiers.filter(({ inputTokensAbove }) => inputTokens > inputTokensAbove);
  return exceeded.reduce<Rates & { readonly inputTokensAbove: number }>(
    (highest, tier) => (tier.inputTokensAbove > highest.inputTokensAbove ? tier : highest),
    { ...base, inputTokensAbove: -1 },
  );
}

function tokenRate(usdPerMillion: number, factor: number): TokenRate {
  const rate = BigInt(Math.round(usdPerMillion * ratePerUsdPerMillion));
  return rate * BigInt(Math.round(factor * factorScale));
}

function wholeNano(total: bigint): NanoUsd {
  return Number((total + ratesPerNano - 1n) / ratesPerNano);
}
