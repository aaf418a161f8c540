import type { RequestRow } from "./row.ts";

/** Waits for money, which the harness asks for by itself when a call to a model was refused for its budget. */
export const budgetRequests = {
  "budget-wait": {
    request: (z) => z.strictObject({}),
    /** Not paid: the agent's runs stop at their limits. */
    answer: (z) => z.object({ ok: z.literal(true), paid: z.boolean() }),
    waitSeconds: () => Infinity,
  },
} as const satisfies Readonly<Record<string, RequestRow>>;
