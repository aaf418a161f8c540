import { maxAfterMs, nextAttempt } from "../../../src/features/alerts/attempt.ts";

test.each([
  ["is retried no earlier than the usual backoff", 3, 60_000, 1_800_000],
  ["is retried after a day at most", 1, Number.MAX_VALUE, maxAfterMs],
])("the delivery of an alert %s", (_, attempts, afterMs, waits) => {
  expect((nextAttempt(attempts, afterMs, 1_000) ?? Infinity) - 1_000).toBe(waits);
});
