import type { Figure } from "./figure.ts";
import { inUnit, isReached, targetText } from "./target.ts";

const heads = ["figure", "median", "p99", "floor", "to reach", "reached"];
const scaleHeads = ["figure", "median", "p99", "processor, each"];

/** The figures as a markdown table, as test/bench/README.md has it. */
export function table(figures: readonly Figure[]): string {
  if (figures.length > 0 && figures.every(hasNoFloor)) return scaleTable(figures);
  const rows = figures.map((figure) => {
    const { name, unit, median, p99 } = figure;
    const p99Text = p99 === null ? "" : inUnit(p99, unit);
    return [
      ...[name, inUnit(median, unit), p99Text, floorText(figure)],
      ...[targetText(figure), reachedText(isReached(figure))],
    ];
  });
  return lines(heads, rows);
}

/** Figures of how far one scheduler goes have nothing beside them, but what each costs. */
function scaleTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, unit, median, p99, processorMs }) => [
    ...[name, inUnit(median, unit), p99 === null ? "" : inUnit(p99, unit)],
    processorMs === undefined ? "" : inUnit(processorMs, "ms"),
  ]);
  return lines(scaleHeads, rows);
}

function hasNoFloor({ floor, target, processorMs }: Figure): boolean {
  return processorMs !== undefined || (floor === null && target === null);
}

function lines(names: readonly string[], rows: readonly (readonly string[])[]): string {
  return [names, names.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function floorText({ floor, floorP99, p99, unit }: Figure): string {
  if (floor === null) return "";
  const more = floorP99 === null || p99 === null ? "" : `, p99 ${inUnit(floorP99, unit)}`;
  return `${inUnit(floor, unit)}${more}`;
}

function reachedText(reached: boolean | null): string {
  if (reached === null) return "";
  return reached ? "yes" : "no";
}
