import {
  compactCount,
  exactTime,
  levelName,
} from "../../../../src/interfaces/dashboard/text/format.ts";

test("levelName returns the four names that the page colours", () =>
  expect([10, 20, 30, 40, 50, 60].map((level) => levelName(level))).toEqual([
    "debug",
    "debug",
    "info",
    "warn",
    "error",
    "error",
  ]));

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1.0k"],
  [9949, "9.9k"],
  [9951, "10k"],
  [12_345, "12k"],
  [999_499, "999k"],
  [999_500, "1.0M"],
])("%i tokens are shown as %s", (count, text) => expect(compactCount(count)).toBe(text));

test("exactTime shows 24 hours in any locale", () =>
  expect(exactTime(new Date(2026, 10, 21, 23, 48, 14).getTime())).toMatch(/23:48:14$/));
