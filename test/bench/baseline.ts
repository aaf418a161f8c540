import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Figure } from "./figure.ts";

/** More than this part worse than before is told. */
const tolerated = 0.2;

/** Writes the figures for a later comparison. */
export function writeFigures(figures: readonly Figure[], path: string): void {
  const machine = { cpus: cpus().length, model: cpus()[0]?.model ?? null, node: process.version };
  writeFileSync(path, `${JSON.stringify({ machine, figures }, null, 2)}\n`);
}

/** The figures that `writeFigures` wrote. */
export function readFigures(path: string): readonly Figure[] {
  return (JSON.parse(readFileSync(path, "utf8")) as { figures: Figure[] }).figures;
}

/**
 * What got worse, in words for a person. A figure with a floor is compared by its ratio to it: both are slow on a busy
 * machine.
 */
export function slower(now: readonly Figure[], before: readonly Figure[]): readonly string[] {
  return now.flatMap((figure) => {
    const then = before.find(({ name }) => name === figure.name);
    if (then === undefined) return [];
    const byFloor = figure.floor !== null && then.floor !== null;
    const change = cost(figure, byFloor) / cost(then, byFloor) - 1;
    if (!(change > tolerated)) return [];
    const how = byFloor ? ", by its ratio to the floor" : "";
    return [`${figure.name}: ${(change * 100).toFixed(0)} % worse${how}`];
  });
}

/** Grows when a figure gets worse. */
function cost({ unit, median, floor }: Figure, byFloor: boolean): number {
  const value = byFloor ? median / (floor ?? 1) : median;
  return unit === "/s" ? 1 / value : value;
}
