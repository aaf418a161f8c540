import { slower } from "./baseline.ts";
import { figureOf, type Figure } from "./figure.ts";
import { isReached, type Target } from "./target.ts";

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
  ["does not report a new figure", rate(100), time(100), []],
])("the comparison of benchmark figures %s", (_what, now, before, worse) =>
  expect(slower([now], [before])).toEqual(worse),
);

const times = Array.from({ length: 100 }, (_, n) => n + 1);
test.each<[Figure["unit"], Target | null, boolean | null, readonly number[]]>([
  ["ms", null, null, times],
  ["ms", { median: 60, p99: 100, most: 100, ofFloor: 3 }, true, times],
  ["ms", { median: 60, p99: 90 }, false, times],
  ["ms", { most: 99 }, false, times],
  ["/s", { ofFloor: 0.6 }, true, [14]],
  ["/s", { ofFloor: 0.6 }, false, [10]],
])(
  "isReached of a benchmark figure in %s with the target %j is %j",
  (unit, target, reached, values) =>
    expect(isReached(figureOf("save", unit, values, { target, floor: [20] }))).toBe(reached),
);
