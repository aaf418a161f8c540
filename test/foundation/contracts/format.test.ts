import { rateLimitedWarnings } from "../../../src/foundation/contracts/rate-limited-warnings.ts";
import { durationText } from "../../../streams/duration-text.ts";
import { relativeTime } from "../../../src/foundation/contracts/format.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

test.each([
  [0, "now"],
  [-1 * second, "1 s ago"],
  [-47 * hour, "47 h ago"],
  [-48 * hour, "2 days ago"],
  [12 * second, "in 12 s"],
])("relativeTime of %i ms from now is %j", (distance, words) => {
  expect(relativeTime(1e12 + distance, 1e12)).toBe(words);
});

test.each([
  [0, "0 ms"],
  [185_000, "3 min 05 s"],
  [912_000, "15 min"],
  [2 * hour + 9.6 * minute, "2 h 10 min"],
])("durationText of %i ms is %j", (ms, text) => expect(durationText(ms)).toBe(text));

test("a repeated warning is logged once a minute, with the number of suppressed ones", () => {
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
