import type { Verdict } from "../../../src/runtime/harness/pi/judge-answer.ts";
import {
  nextStreak,
  noStreak,
  retryDelayMs,
  silenceLimitMs,
} from "../../../src/runtime/harness/retry-policy.ts";

const alone = { retries: 0, maxRetries: 3, waitedMs: 0, hasFallback: false, remainingMs: 60_000 };
const backed = { ...alone, hasFallback: true };
const retry = (retryAfterMs = 0, isSlow?: true): Verdict => ({
  kind: "retry",
  message: "503",
  retryAfterMs,
  ...(isSlow && { isSlow }),
});

test.each<[string, Verdict, typeof alone, number | null]>([
  ["waits for its backoff if the provider asks for less", retry(10), alone, 1000],
  ["is not made for a complete answer", { kind: "complete" }, alone, null],
  ["may wait for half of the run's remaining time", retry(30_000), alone, 30_000],
  ["is not made if it waits for more than half of the run's time", retry(30_001), alone, null],
  ["waits up to 10 s if there is a fallback", retry(9000), backed, 9000],
  [
    "is not made after 10 s of waits if there is a fallback",
    retry(9000),
    { ...backed, waitedMs: 1001 },
    null,
  ],
  ["is not made after a silent model if there is a fallback", retry(0, true), backed, null],
  ["is made after a silent model without a fallback", retry(0, true), alone, 1000],
])("a retry of a model call %s", (_what, verdict, state, delayMs) => {
  expect(retryDelayMs(verdict, state, 0)).toBe(delayMs);
});

test.each([
  ["the model's own if configured", 900, 60_000, 2, 900_000],
  ["half of the remaining time for the last model", null, 60_000, 1, 30_000],
  ["a third of the remaining time before one other model", null, 60_000, 2, 20_000],
  ["at most 5 minutes", null, 7_200_000, 1, 300_000],
  ["a second if the time is over", null, -5, 1, 1000],
])(
  "the timeout of a model that sends no data is %s",
  (_what, seconds, remainingMs, modelsLeft, limitMs) => {
    expect(silenceLimitMs(seconds, { remainingMs, modelsLeft })).toBe(limitMs);
  },
);

const cut: Verdict = { kind: "continue", why: "cut", message: "cut" };
const empty: Verdict = { kind: "continue", why: "empty", message: "empty" };
const after = (verdicts: readonly Verdict[]) => verdicts.reduce(nextStreak, noStreak);

test("the count of cut or empty answers in a row restarts after a complete answer", () => {
  expect(after([empty, empty, { kind: "complete" }, empty]).count).toBe(1);
  expect(after([cut, cut, empty]).count).toBe(1);
});
