import { expect, test } from "vitest";
import {
  compactCount,
  costText,
  counted,
  durationText,
  exactTime,
  levelName,
  relativeTime,
} from "../../../../src/gateway/dashboard/browser/format.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

test.each([
  [0, "now"],
  [-999, "now"],
  [-1 * second, "1 s ago"],
  [-59_999, "59 s ago"],
  [-1 * minute, "1 min ago"],
  [-59 * minute, "59 min ago"],
  [-47 * hour, "47 h ago"],
  [-48 * hour, "2 days ago"],
  [12 * second, "in 12 s"],
  [3 * hour, "in 3 h"],
])("%i ms from now is %s", (distance, words) => {
  expect(relativeTime(1e12 + distance, 1e12)).toBe(words);
});

test.each([
  [0, "0 ms"],
  [312, "312 ms"],
  [1234, "1.2 s"],
  [42_300, "42 s"],
  [59_600, "1 min 00 s"],
  [185_000, "3 min 05 s"],
  [912_000, "15 min"],
  [2 * hour + 9.6 * minute, "2 h 10 min"],
])("%i ms is %s", (ms, text) => expect(durationText(ms)).toBe(text));

test("counts carry their word", () => {
  expect([0, 1, 1200].map((count) => counted(count, "agent"))).toEqual([
    "0 agents",
    "1 agent",
    "1,200 agents",
  ]);
});

test("levels have the four names that the page colours", () => {
  expect([10, 20, 30, 40, 50, 60].map((level) => levelName(level))).toEqual([
    "debug",
    "debug",
    "info",
    "warn",
    "error",
    "error",
  ]);
});

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1.0k"],
  [9949, "9.9k"],
  [9951, "10k"],
  [12_345, "12k"],
  [999_499, "999k"],
  [999_500, "1.0M"],
])("%i tokens are %s", (count, text) => expect(compactCount(count)).toBe(text));

test.each([
  [0, "$0"],
  [0.00123, "$0.0012"],
  [0.1, "$0.10"],
  [12.345, "$12.35"],
])("%d dollars are %s", (usd, text) => expect(costText(usd)).toBe(text));

test("a moment is told in 24 hours wherever the reader is", () => {
  expect(exactTime(new Date(2026, 10, 21, 23, 48, 14).getTime())).toMatch(/23:48:14$/);
});
