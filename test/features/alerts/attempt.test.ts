import { maxAfterMs, nextAttempt } from "../../../src/features/alerts/attempt.ts";

test.each([
  ["as long as its target asks for", 1, 60_000, 60_000],
  ["at least as long as usual", 3, 60_000, 1_800_000],
  ["at most a day", 1, Number.MAX_VALUE, maxAfterMs],
  ["never after the eighth attempt", 8, 60_000, Infinity],
])("an alert waits %s", (_, attempts, afterMs, waits) => {
  expect((nextAttempt(attempts, afterMs, 1_000) ?? Infinity) - 1_000).toBe(waits);
});
