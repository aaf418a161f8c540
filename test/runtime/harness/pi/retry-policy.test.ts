import type { Verdict } from "../../../../src/runtime/harness/pi/classify-answer.ts";
import {
  nextStreak,
  noStreak,
  withinLimit,
  retryDelayMs,
  silenceLimitMs,
} from "../../../../src/runtime/harness/pi/retry-policy.ts";

const hiccup = { kind: "retry", message: "503", isSlow: false, cooldownMs: null } as const;
const verdict = (retryAfterMs: number | null = null, isSlow = false): Verdict => ({
  ...hiccup,
  retryAfterMs,
  isSlow,
});
const alone = { retries: 0, maxRetries: 3, waitedMs: 0, hasFallback: false, remainingMs: 60_000 };
const backed = { ...alone, hasFallback: true };

test("a retry waits as long as the provider asks, and never shorter than the backoff", () => {
  expect(retryDelayMs(verdict(), alone, 0)).toBe(1000);
  expect(retryDelayMs(verdict(7000), alone, 0)).toBe(7000);
  expect(retryDelayMs(verdict(10), alone, 0)).toBe(1000);
});

test("a retry is not made when all were made, or when it doesn't help", () => {
  expect(retryDelayMs(verdict(), { ...alone, retries: 3 }, 0)).toBeNull();
  expect(retryDelayMs(verdict(), { ...alone, maxRetries: 0 }, 0)).toBeNull();
  expect(retryDelayMs({ kind: "complete" }, alone, 0)).toBeNull();
});

test("a retry leaves half of the run's time to the work after the wait", () => {
  expect(retryDelayMs(verdict(30_000), alone, 0)).toBe(30_000);
  expect(retryDelayMs(verdict(30_001), alone, 0)).toBeNull();
});

test("a retry gives way to a fallback after 10 s of waits, and at once after silence", () => {
  expect(retryDelayMs(verdict(9000), backed, 0)).toBe(9000);
  expect(retryDelayMs(verdict(9000), { ...backed, waitedMs: 1001 }, 0)).toBeNull();
  expect(retryDelayMs(verdict(null, true), backed, 0)).toBeNull();
  expect(retryDelayMs(verdict(null, true), alone, 0)).toBe(1000);
});

test("the timeout of a silent model is the model's own if configured", () =>
  expect(silenceLimitMs(900, { remainingMs: 60_000, modelsLeft: 2 })).toBe(900_000));

test("the timeout of a silent model leaves time for the models after it and one more attempt, for any remaining time", () => {
  expect(silenceLimitMs(null, { remainingMs: 60_000, modelsLeft: 1 })).toBe(30_000);
  expect(silenceLimitMs(null, { remainingMs: 60_000, modelsLeft: 2 })).toBe(20_000);
  expect(silenceLimitMs(null, { remainingMs: 7_200_000, modelsLeft: 1 })).toBe(300_000);
  expect(silenceLimitMs(null, { remainingMs: -5, modelsLeft: 1 })).toBe(1000);
});

const cut: Verdict = { kind: "continue", why: "cut", message: "cut" };
const empty: Verdict = { kind: "continue", why: "empty", message: "empty" };
const after = (verdicts: readonly Verdict[]) => verdicts.reduce(nextStreak, noStreak);

test("the continuation of an answer is limited for answers that are cut in a row", () => {
  expect(withinLimit(cut, after([cut, cut, cut]))).toBe(cut);
  expect(withinLimit(cut, after([cut, cut, cut, cut]))).toMatchObject({
    kind: "fallback",
    message: "cut 4 times in a row",
  });
});

test("the continuation of an answer counts anew after another answer", () => {
  expect(after([empty, empty, { kind: "complete" }, empty]).count).toBe(1);
  expect(after([cut, cut, empty]).count).toBe(1);
});
