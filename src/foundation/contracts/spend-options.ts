/** What spending is added up by. */
export const spendKeys = ["agent", "model", "day"] as const;
export type SpendKey = (typeof spendKeys)[number];

/** The most that one request adds, in USD. */
export const maxRaiseUsd = 1_000_000;
