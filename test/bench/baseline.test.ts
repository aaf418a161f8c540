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
  ["of a busy machine", time(300, [30]), time(100, [10]), []],
  [
    "beside a floor",
    time(130, [10]),
    time(100, [10]),
    ["save: 30 % worse, by its ratio to the floor"],
  ],
  [
    "beside a floor",
    rate(50, [100]),
    rate(90, [100]),
    ["webhooks: 80 % worse, by its ratio to the floor"],
  ],
  ["alone", time(119), time(100), []],
  ["alone", time(130), time(100), ["save: 30 % worse"]],
  ["that is new", rate(100), time(100), []],
])("a figure %s is compared by its ratio to the floor, or directly", (_what, now, before, worse) =>
  expect(slower([now], [before])).toEqual(worse),
);

test("a written baseline can be read back", () => {
  const path = join(tempDir(), "baseline.json");
  const figures = [time(1 / 3, [0.1]), figureOf("bytes", "bytes", [1], { target: { most: 2 } })];
  writeFigures(figures, path);
  expect(readFigures(path)).toEqual(figures);
});

const times = Array.from({ length: 100 }, (_, n) => n + 1);
test.each<[Figure["unit"], readonly number[], Target | null, boolean | null]>([
  ["ms", times, null, null],
  ["ms", times, { median: 60, p99: 100, most: 100, ofFloor: 3 }, true],
  ["ms", times, { median: 40 }, false],
  ["ms", times, { median: 60, p99: 90 }, false],
  ["ms", times, { most: 99 }, false],
  ["ms", times, { ofFloor: 2 }, false],
  ["/s", [14], { ofFloor: 0.6 }, true],
  ["/s", [10], { ofFloor: 0.6 }, false],
])(
  "a target is met when all of it is: a rate at least, everything else at most (%s, %j, %j)",
  (unit, values, target, reached) =>
    expect(isReached(figureOf("save", unit, values, { target, floor: [20] }))).toBe(reached),
);

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
