/** Billionths of a US dollar, always whole: a token of a model at $10 per million costs 10,000. */
export type NanoUsd = number;

const nanoPerUsd = 1e9;

/** The nearest whole amount, capped at the largest exact integer. */
export function nanoOfUsd(usd: number): NanoUsd {
  return Math.min(Math.round(usd * nanoPerUsd), Number.MAX_SAFE_INTEGER);
}

export function usdOfNano(nano: NanoUsd): number {
  return nano / nanoPerUsd;
}

/** For a person: cents, and below a cent as many digits as needed to show it. */
export function usdText(nano: NanoUsd): string {
  const usd = usdOfNano(nano);
  if (nano === 0 || Math.abs(usd) >= 0.01) {
    return `$${usd.toFixed(2).replace(/\B(?=(\d{3}){1,9}\.)/g, ",")}`;
  }
  return `$${Number(usd.toPrecision(2))
    .toFixed(9)
    .replace(/(?<!0)0+$/, "")}`;
}
