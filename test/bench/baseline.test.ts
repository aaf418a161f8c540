import { join } from "node:path";
import { readFigures, slower, writeFigures } from "./baseline.ts";
import { comparisonTable, medians } from "./compare.ts";
import { figureOf, type Figure } from "./figure.ts";
import { table } from "./report.ts";
import { isReached } from "./target.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const time = (ms: number, floor: readonly number[] = []): Figure =>
  figureOf("save", "ms", [ms], { floor });
const rate = (perSecond: number, floor: readonly number[] = []): Figure =>
  figureOf("webhooks", "/s", [perSecond], { floor });

test("a figure is compared by its ratio to the floor, so that a busy machine is not slower", () => {
  expect(slower([time(300, [30])], [time(100, [10])])).toEqual([]);
  expect(slower([time(130, [10])], [time(100, [10])])).toEqual([
    "save: 30 % worse, by its ratio to the floor",
  ]);
  expect(slower([rate(50, [100])], [rate(90, [100])])).toEqual([
    "webhooks: 80 % worse, by its ratio to the floor",
  ]);
});

test("a figure without a floor is compared directly, a new one with nothing", () => {
  expect(slower([time(119), rate(100)], [time(100)])).toEqual([]);
  expect(slower([time(130)], [time(100)])).toEqual(["save: 30 % worse"]);
});

test("a written baseline can be read back", () => {
  const dir = tempDir();
  const path = join(dir, "baseline.json");
  const figures = [time(1 / 3, [0.1]), figureOf("bytes", "bytes", [1], { target: { most: 2 } })];
  writeFigures(figures, path);
  expect(readFigures(path)).toEqual(figures);
});

test("a target is met when all of it is: a rate at least, everything else at most", () => {
  const times = Array.from({ length: 100 }, (_, n) => n + 1);
  const reached = (target: Figure["target"]): boolean | null =>
    isReached(figureOf("save", "ms", times, { target, floor: [20] }));
  expect(reached(null)).toBe(null);
  expect(reached({ median: 60, p99: 100, most: 100, ofFloor: 3 })).toBe(true);
  expect(reached({ median: 40 })).toBe(false);
  expect(reached({ median: 60, p99: 90 })).toBe(false);
  expect(reached({ most: 99 })).toBe(false);
  expect(reached({ ofFloor: 2 })).toBe(false);
  const of = (perSecond: number): boolean | null =>
    isReached(figureOf("w", "/s", [perSecond], { target: { ofFloor: 0.6 }, floor: [100] }));
  expect([of(70), of(50)]).toEqual([true, false]);
});

test("the table shows the target of each figure and whether it is met", () => {
  const target = { median: 150, p99: 400 };
  const figure = figureOf("save", "ms", [120], { target, floor: [1.5] });
  expect(table([figure]).split("\n").at(-1)).toBe(
    "| save | 120 ms |  | 1.5 ms | 150 ms, p99 400 ms | yes |",
  );
});

test("a figure of several rounds is their median; its worst value is the worst of all", () => {
  const [one, ...others] = medians([time(100, [10]), time(300, [30]), time(120, [20]), rate(5)]);
  expect(one).toMatchObject({ name: "save", median: 120, floor: 20, p99: null, most: 300 });
  expect(others).toMatchObject([{ name: "webhooks", median: 5, floor: null }]);
});

test("a comparison shows each new figure beside the old one", () => {
  const compared = { before: [time(100, [10])], now: [time(80, [9]), rate(5)] };
  expect(comparisonTable(compared).split("\n").slice(2)).toEqual([
    "| save | 100 ms | 80 ms | -20 % | 10 ms | 9 ms |",
    "| webhooks |  | 5 /s | new |  |  |",
  ]);
});
