import type { Figure } from "./figure.ts";

/** What is to be reached, all that is given: a rate at least, everything else at most. */
export interface Target {
  readonly median?: number;
  readonly p99?: number;
  /** What no single observation may be over. */
  readonly most?: number;
  /** The median's part of the floor's: 0.6 of what bare parts do in a second, or 1.2 of what they take. */
  readonly ofFloor?: number;
}

/** Whether a figure is where it should be; null for one without a target. */
export function isReached({ unit, median, p99, most, floor, target }: Figure): boolean | null {
  if (target === null) return null;
  const holds = (value: number, limit: number | undefined): boolean =>
    limit === undefined || (unit === "/s" ? value >= limit : value <= limit);
  return (
    holds(median, target.median) &&
    // With too few observations for a percentile, the worst one counts.
    holds(p99 ?? most, target.p99) &&
    holds(most, target.most) &&
    (target.ofFloor === undefined || (floor !== null && holds(median / floor, target.ofFloor)))
  );
}

/** The target, for the table. */
export function targetText({ target, unit }: Figure): string {
  const { median, p99, most, ofFloor } = target ?? {};
  const words = Object.entries({ "": median, "p99 ": p99, "never over ": most }).flatMap(
    ([word, value]) => (value === undefined ? [] : [word + inUnit(value, unit)]),
  );
  return [...words, ...(ofFloor === undefined ? [] : [`${ofFloor} × the floor`])].join(", ");
}

/** `1,234 ms` */
export function inUnit(number: number, unit: Figure["unit"]): string {
  const digits = number < 10 ? 2 : 0;
  return `${number.toLocaleString("en-US", { maximumFractionDigits: digits })} ${unit}`.trim();
}
