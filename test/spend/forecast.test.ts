import { expect, test } from "vitest";
import { forecastOf, totalForecast } from "../../src/spend/forecast.ts";

const now = Date.parse("2026-11-22T12:00:00Z");
const daily = { expression: "0 9 * * *", timezone: "UTC" };

test("a month costs the usual run and the dear one, times the ticks", () => {
  const costs = Array.from({ length: 20 }, (_, n) => 20 - n);
  expect(forecastOf(daily, costs, now)).toEqual({
    ticks: 30,
    runs: 20,
    monthNano: 300,
    monthP90Nano: 540,
  });
});

test.each([
  [[7], 7, 7],
  [[1, 9], 1, 9],
  [[3, 1, 2], 2, 3],
  [Array.from({ length: 40 }, (_, n) => (n < 20 ? 5 : 1_000)), 5, 5],
])("of the runs %j the last 20 count", (costs, usual, dear) => {
  const forecast = forecastOf(daily, costs, now);
  expect([forecast?.monthNano, forecast?.monthP90Nano]).toEqual([usual * 30, dear * 30]);
});

test("without a run there is no forecast", () => {
  expect(forecastOf(daily, [], now)).toBeNull();
  expect(totalForecast([null])).toBeNull();
});

test("all agents' are added up", () => {
  const one = { ticks: 1, runs: 1, monthNano: 3, monthP90Nano: 4 };
  expect(totalForecast([one, null, one])).toEqual({ monthNano: 6, monthP90Nano: 8 });
});
