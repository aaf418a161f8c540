import type { Figure } from "./figure.ts";
import { inUnit, isReached, targetText } from "./target.ts";

const heads = ["figure", "median", "p99", "floor", "to reach", "reached"];

/** The figures as a markdown table, as test/bench/README.md has it. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, unit, median, p99 } = figure;
    const reached = isReached(figure);
    return [
      name,
      inUnit(median, unit),
      p99 === null ? "" : inUnit(p99, unit),
      floorText(figure),
      targetText(figure),
      reached === null ? "" : reached ? "yes" : "no",
    ];
  });
  return [heads, heads.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function floorText({ floor, floorP99, p99, unit }: Figure): string {
  if (floor === null) return "";
  const more = floorP99 === null || p99 === null ? "" : `, p99 ${inUnit(floorP99, unit)}`;
  return `${inUnit(floor, unit)}${more}`;
}
