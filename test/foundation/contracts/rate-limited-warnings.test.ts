import { expect, test } from "vitest";
import { rateLimitedWarnings } from "../../../src/foundation/contracts/rate-limited-warnings.ts";

test("the same kind of warning comes once a minute and says how many it kept back", () => {
  const lines: string[] = [];
  let now = 1_000;
  const warn = rateLimitedWarnings(
    (line) => lines.push(line),
    () => now,
  );
  for (let n = 0; n < 50; n++) warn("a", `bad ${n}`);
  warn("b", "other");
  expect(lines).toEqual(["bad 0", "other"]);
  now += 60_000;
  warn("a", "bad again");
  now += 60_000;
  warn("a", "and again");
  expect(lines.slice(2)).toEqual(["bad again (and 49 more like it before)", "and again"]);
});
