import { describe, expect, test } from "vitest";
import { duration, localTime, plain, plainLine, relative } from "../../src/cli/format.ts";

test.each([
  [0, "0ms"],
  [840, "840ms"],
  [1234, "1.2s"],
  [59_000, "59s"],
  [60_000, "1m"],
  [184_000, "3m 4s"],
  [7_500_000, "2h 5m"],
  [274_000_000, "3d 4h"],
])("%i ms is %s", (ms, text) => expect(duration(ms)).toBe(text));

const now = Date.UTC(2026, 0, 5, 12);
const at = (ms: number) => new Date(now + ms).toISOString();

test.each([
  [at(-12_000), "12s ago"],
  [at(-400), "now"],
  [at(3000), "in 3s"],
  [at(3_600_000), "in 1h"],
  [null, ""],
])("%s is %s", (iso, text) => expect(relative(iso, now)).toBe(text));

test("a moment of another day has its date", () => {
  const noon = new Date(2026, 2, 9, 12, 0, 5).getTime();
  expect(localTime(noon, noon)).toBe("12:00:05");
  expect(localTime(noon, noon + 86_400_000)).toBe("2026-03-09 12:00:05");
});

describe("text from elsewhere", () => {
  test.each([
    ["\u001b[31mred\u001b[0m", "red"],
    ["title\u001b]0;owned\u0007", "title"],
    ["over\rwrite", "write"],
    ["right\u202eleft", "rightleft"],
    ["a\r\nb\tc\n", "a\nb\tc\n"],
  ])("%j can't steer the terminal", (text, safe) => expect(plain(text)).toBe(safe));

  test("on one line has no breaks", () => expect(plainLine(" a\n  b\t c ")).toBe("a b c"));
});
