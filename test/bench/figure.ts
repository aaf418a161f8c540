import type { Target } from "./target.ts";

/** One measured figure. Values are in `unit`; a floor is what bare parts reach on the same machine in the same minute. */
export interface Figure {
  readonly name: string;
  readonly unit: "ms" | "MB" | "/s" | "bytes" | "%" | "";
  readonly median: number;
  /** The 99th percentile of single observations, where there are enough. */
  readonly p99: number | null;
  readonly most: number;
  /** The floor's median. */
  readonly floor: number | null;
  readonly floorP99: number | null;
  readonly target: Target | null;
}

/** A group of figures that are measured together. */
export interface Measure {
  readonly name: string;
  readonly run: (options: BenchOptions) => Promise<readonly Figure[]>;
}

export interface BenchOptions {
  /** How often each is measured. */
  readonly repeats: number;
}

/** A percentile of fewer observations would be the longest of them. */
const enough = 20;

/** A figure of single observations, such as latencies; `floor` are those of the bare parts. */
export function figureOf(
  name: string,
  unit: Figure["unit"],
  values: readonly number[],
  { target = null, floor = [] }: { target?: Target | null; floor?: readonly number[] } = {},
): Figure {
  if (values.length === 0) throw new Error(`${name}: nothing was measured`);
  const hasFloor = floor.length > 0;
  return {
    name,
    unit,
    median: quantile(values, 0.5),
    p99: values.length < enough ? null : quantile(values, 0.99),
    most: quantile(values, 1),
    floor: hasFloor ? quantile(floor, 0.5) : null,
    floorP99: floor.length < enough ? null : quantile(floor, 0.99),
    target,
  };
}

/** The value below which the given part (0 to 1) of the values lies. More digits would be noise in every diff. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = Math.min(sorted.length - 1, Math.floor(sorted.length * part));
  return Number((sorted[place] ?? Number.NaN).toPrecision(4));
}
