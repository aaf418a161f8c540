/** One measured figure. Values are in `unit`; `floor` is what bare parts reach on the same machine in the same minute. */
export interface Figure {
  readonly name: string;
  readonly unit: "ms" | "MB" | "/s" | "bytes" | "%" | "";
  readonly median: number;
  /** The 99th percentile of single observations, where there are some. */
  readonly p99: number | null;
  readonly floor: number | null;
  /** What is to be reached, as words for the table; null for a figure without one. */
  readonly target: string | null;
}

/** A group of figures that are measured together. */
export interface Measure {
  readonly name: string;
  readonly run: (options: BenchOptions) => Promise<readonly Figure[]>;
}

export interface BenchOptions {
  /** How often each is measured. */
  readonly repeats: number;
  /** Small sizes, to see that it works. */
  readonly quick: boolean;
  /** How long the soak takes. */
  readonly minutes: number;
}

/** The value below which the given part (0 to 1) of the values lies; NaN for none. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** A figure of single observations, such as latencies. */
export function figureOf(
  name: string,
  unit: Figure["unit"],
  values: readonly number[],
  { target = null, floor = null }: { target?: string | null; floor?: number | null } = {},
): Figure {
  const p99 = values.length >= 20 ? quantile(values, 0.99) : null;
  return { name, unit, median: quantile(values, 0.5), p99, floor, target };
}
