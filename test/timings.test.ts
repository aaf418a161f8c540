import { timings } from "./timings.ts";

/** Workers of vitest.config.ts, and how long they may take in seconds; the set-up takes the rest of 15 minutes. */
const workers = 4;
const limitSeconds = 820;

test("all test files together fit into 15 minutes", () => {
  const sum = Object.values(timings).reduce((total, seconds) => total + seconds, 0);
  expect(sum / workers).toBeLessThanOrEqual(limitSeconds);
});
