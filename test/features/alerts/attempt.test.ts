import { maxAfterMs, nextAttempt } from "../../../src/features/alerts/attempt.ts";

const now = 1_700_000_000_000;
const after = (attempts: number, afterMs: number | null = null): number | null => {
  const at = nextAttempt(attempts, afterMs, now);
  return at === null ? null : (at - now) / 1000;
};

test("attempts follow each other after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, and end after the eighth", () =>
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempts) => after(attempts))).toEqual([
    5,
    300,
    1800,
    7200,
    18_000,
    36_000,
    36_000,
    null,
    null,
  ]));

test("attempts wait as long as the target asks for, and at least as long as usual", () => {
  expect(after(1, 60_000)).toBe(60);
  expect(after(3, 60_000)).toBe(1800);
  expect(after(1, 0)).toBe(5);
  expect(after(8, 60_000)).toBeNull();
});

test("attempts wait at most a day", () =>
  expect(after(1, Number.MAX_VALUE)).toBe(maxAfterMs / 1000));
