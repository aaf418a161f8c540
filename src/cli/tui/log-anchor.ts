import type { LogEntry } from "../../../streams/vocabulary.ts";
import { linesOf } from "./log-screen.ts";
import type { ScreenStyle } from "./screen-style.ts";

/** The line at the bottom of what is looked at: it stays there when lines come, go or are wrapped anew. */
export interface LogAnchor {
  readonly entry: LogEntry;
  /** Index of the line within the entry. */
  readonly line: number;
}

/** How many lines there are down to the anchor; all of them when it is null, none when it is gone. */
export function linesDownTo(
  anchor: LogAnchor | null,
  entries: readonly LogEntry[],
  style: ScreenStyle,
): number {
  let count = 0;
  for (const entry of entries) {
    const { length } = linesOf(entry, style);
    if (entry === anchor?.entry) return count + Math.min(length, anchor.line + 1);
    count += length;
  }
  return anchor === null ? count : 0;
}

/** The anchor with so many lines down to it; null, which follows, when these are all. */
export function anchorAt(
  end: number,
  entries: readonly LogEntry[],
  style: ScreenStyle,
): LogAnchor | null {
  let count = 0;
  for (const entry of entries) {
    const { length } = linesOf(entry, style);
    const isLast = entry === entries.at(-1);
    if (end <= count + length && !(isLast && end === count + length)) {
      return { entry, line: end - count - 1 };
    }
    count += length;
  }
  return null;
}
