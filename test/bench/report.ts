import { readFileSync } from "node:fs";
import type { Figure } from "./figure.ts";

/** The figures as a markdown table. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, unit, median, p99, floor, target }) => {
    const cells = [name, value(median, unit), value(p99, unit), value(floor, unit), target ?? ""];
    return `| ${cells.join(" | ")} |`;
  });
  return ["| figure | median | p99 | floor | to reach |", "|---|---|---|---|---|", ...rows].join(
    "\n",
  );
}

/** What got more than a quarter worse than in an earlier report (`--json`), relative to the floor where there is one. */
export function compared(figures: readonly Figure[], path: string): string {
  const before = (JSON.parse(readFileSync(path, "utf8")) as { figures: Figure[] }).figures;
  const worse = figures.flatMap((now) => {
    const then = before.find(({ name }) => name === now.name);
    if (then === undefined) return [];
    const change = cost(now) / cost(then);
    return change > 1.25 ? [`slower: ${now.name}, ${((change - 1) * 100).toFixed(0)}%`] : [];
  });
  return worse.length === 0 ? "nothing got slower" : worse.join("\n");
}

/** Grows when a figure gets worse. */
function cost({ unit, median, floor }: Figure): number {
  const relative = median / (floor ?? 1);
  return unit === "/s" ? 1 / relative : relative;
}

function value(number: number | null, unit: Figure["unit"]): string {
  if (number === null) return "";
  const digits = number < 10 ? 2 : 0;
  return `${number.toLocaleString("en-US", { maximumFractionDigits: digits })} ${unit}`;
}
