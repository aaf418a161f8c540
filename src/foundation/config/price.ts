import { z } from "zod";
import type { Rates } from "../../../streams/agent-config.ts";

/** Above the price of any model, and small enough for exact sums. */
const maxUsdPerMillion = 100_000;

const rates =
  "a table of USD per million tokens, e.g. { input = 3, output = 15, cacheRead = 0.3, cacheWrite = 3.75 }";

/** `price` of `[models.<name>]`. */
export const priceField = z.strictObject(
  {
    input: usdPerMillion(),
    output: usdPerMillion(),
    cacheRead: usdPerMillion().optional(),
    cacheWrite: usdPerMillion().optional(),
  },
  { error: rates },
);

function usdPerMillion() {
  const error = `USD per million tokens, 0 to ${maxUsdPerMillion}`;
  return z.number({ error }).min(0, { error }).max(maxUsdPerMillion, { error });
}

/** Without its own prices, cached input costs the same as other input. */
export function ratesOf(given: z.output<typeof priceField> | undefined): Rates | null {
  if (given === undefined) return null;
  const { input, output, cacheRead = input, cacheWrite = input } = given;
  return { input, output, cacheRead, cacheWrite };
}

/** `$3 in, $15 out per million tokens`. */
export function priceText(price: Rates | null): string | null {
  return price === null ? null : `$${price.input} in, $${price.output} out per million tokens`;
}
