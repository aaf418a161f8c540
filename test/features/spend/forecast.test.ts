import { forecastOf, noRuns, totalForecast } from "../../../src/features/spend/forecast.ts";

const now = Date.parse("2026-11-22T12:00:00Z");
const daily = { expression: "0 9 * * *", timezone: "UTC" };

test("the cost forecast of a month is the median run and the p90 run, times the scheduled runs", () => {
  const costs = Array.from({ length: 20 }, (_, n) => 20 - n);
  expect(forecastOf([daily], { costs, triggered: 0 }, now)).toEqual({
    ticks: 30,
    triggered: 0,
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
])(
  "the cost forecast after runs that cost %j uses the median %i and the p90 %i of the last 20",
  (costs, usual, dear) => {
    const forecast = forecastOf([daily], { costs, triggered: 0 }, now);
    expect([forecast?.monthNano, forecast?.monthP90Nano]).toEqual([usual * 30, dear * 30]);
  },
);

test("the cost forecast includes runs by webhooks and agent calls, whether or not the agent has a schedule", () => {
  const runs = { costs: [10, 20], triggered: 12.5 };
  expect(forecastOf([], runs, now)).toMatchObject({ ticks: 0, monthNano: 125 });
  expect(forecastOf([daily], runs, now)).toMatchObject({ monthNano: 425, monthP90Nano: 850 });
});

test("an agent without runs has no cost forecast", () => {
  expect(forecastOf([daily], noRuns, now)).toBeNull();
  expect(forecastOf([], { costs: [1], triggered: 0 }, now)).toBeNull();
  expect(totalForecast([null])).toBeNull();
});

test("the cost forecasts of all agents are added up", () => {
  const one = { ticks: 1, triggered: 0, runs: 1, monthNano: 3, monthP90Nano: 4 };
  expect(totalForecast([one, null, one])).toEqual({ monthNano: 6, monthP90Nano: 8 });
});
