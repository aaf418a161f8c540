import { join } from "node:path";
import { readFigures, slower, writeFigures } from "./baseline.ts";
import { figureOf, type Figure } from "./figure.ts";
import { table } from "./report.ts";
import { comparisonTable, medians } from "./compare.ts";
import { isReached, type Target } from "./target.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const time = (ms: number, floor: readonly number[] = []): Figure =>
  figureOf("save", "ms", [ms], { floor });
const rate = (perSecond: number, floor: readonly number[] = []): Figure =>
  figureOf("webhooks", "/s", [perSecond], { floor });

test.each<[string, Figure, Figure, string[]]>([
  ["does not report a figure that is slower like its floor", time(300, [30]), time(100, [10]), []],
  [
    "reports a time that is worse by its ratio to the floor",
    time(130, [10]),
    time(100, [10]),
    ["save: 30 % worse, by its ratio to the floor"],
  ],
  [
    "reports a rate that is worse by its ratio to the floor",
    rate(50, [100]),
    rate(90, [100]),
    ["webhooks: 80 % worse, by its ratio to the floor"],
  ],
  ["does not report a time that is 19 % worse", time(119), time(100), []],
  ["reports a time that is 30 % worse", time(130), time(100), ["save: 30 % worse"]],
  ["does not report a new figure", rate(100), time(100), []],
])("the comparison of benchmark figures %s", (_what, now, before, worse) =>
  expect(slower([now], [before])).toEqual(worse),
);

test("a written benchmark baseline can be read back", () => {
  const path = join(tempDir(), "baseline.json");
  const figures = [time(1 / 3, [0.1]), figureOf("bytes", "bytes", [1], { target: { most: 2 } })];
  writeFigures(figures, path);
  expect(readFigures(path)).toEqual(figures);
});

const times = Array.from({ length: 100 }, (_, n) => n + 1);
test.each<[Figure["unit"], Target | null, boolean | null, readonly number[]]>([
  ["ms", null, null, times],
  ["ms", { median: 60, p99: 100, most: 100, ofFloor: 3 }, true, times],
  ["ms", { median: 40 }, false, times],
  ["ms", { median: 60, p99: 90 }, false, times],
  ["ms", { most: 99 }, false, times],
  ["ms", { ofFloor: 2 }, false, times],
  ["/s", { ofFloor: 0.6 }, true, [14]],
  ["/s", { ofFloor: 0.6 }, false, [10]],
])(
  "isReached of a benchmark figure in %s with the target %j is %j",
  (unit, target, reached, values) =>
    expect(isReached(figureOf("save", unit, values, { target, floor: [20] }))).toBe(reached),
);

test("the benchmark table shows the target of each figure and whether it is met", () => {
  const target = { median: 150, p99: 400 };
  const figure = figureOf("save", "ms", [120], { target, floor: [1.5] });
  expect(table([figure]).split("\n").at(-1)).toBe(
    "| save | 120 ms |  | 1.5 ms | 150 ms, p99 400 ms | yes |",
  );
});

test("a benchmark figure of several rounds is the median, with the worst value", () => {
  const [one, ...others] = medians([time(100, [10]), time(300, [30]), time(120, [20]), rate(5)]);
  expect(one).toMatchObject({ name: "save", median: 120, floor: 20, p99: null, most: 300 });
  expect(others).toMatchObject([{ name: "webhooks", median: 5, floor: null }]);
});

test("a benchmark comparison shows new and old figures side by side", () => {
  const compared = { before: [time(100, [10])], now: [time(80, [9]), rate(5)] };
  expect(comparisonTable(compared).split("\n").slice(2)).toEqual([
    "| save | 100 ms | 80 ms | -20 % | 10 ms | 9 ms |",
    "| webhooks |  | 5 /s | new |  |  |",
  ]);
});
