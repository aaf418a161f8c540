import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { formatLog } from "../logs/log-line.ts";
import { cut, wrap } from "../terminal/fit.ts";
import type { ScreenStyle } from "./screen.ts";

/** An agent's log as it is looked at. */
interface LogFacts {
  readonly agent: string;
  readonly entries: readonly LogEntry[];
  /** How many lines are hidden below; 0 follows what comes. */
  readonly below: number;
  /** Why nothing more comes; null while it is followed. */
  readonly problem: string | null;
  /** What a stop waits for, instead of the keys; null while it doesn't stop. */
  readonly stopping: string | null;
}

/** Rows that are no log lines. */
export const logFrame = 2;

/** The log of one agent, with its own keys in the last line; `rows` lines in all. */
export function logScreen(facts: LogFacts, lines: readonly string[], style: ScreenStyle): string[] {
  const { agent, below, problem, stopping } = facts;
  const { columns, rows, colors } = style;
  const room = rows - logFrame;
  const end = lines.length - below;
  const shown = lines.slice(Math.max(0, end - room), end);
  const where = below === 0 ? "following" : `${below} lines below, End follows`;
  const state = problem === null ? colors.dim(where) : colors.red(problem);
  const empty = lines.length === 0 ? [colors.dim("Nothing was logged yet.")] : [];
  const body = [...shown, ...empty];
  const blank = Array.from({ length: Math.max(0, room - body.length) }, () => "");
  const keys = [
    ["Esc", "back"],
    ["up/down, PgUp/PgDn", "scroll"],
    ["End", "follow"],
    ["q", "quit"],
  ].map(([key = "", does = ""]) => `${colors.bold(key)} ${colors.dim(does)}`);
  const last = stopping === null ? keys.join("  ") : colors.yellow(stopping);
  return [`${colors.bold(agent)} log ${state}`, ...body, ...blank, last].map((line) =>
    cut(line, columns),
  );
}

const linesOfEntry = new WeakMap<LogEntry, { key: string; lines: readonly string[] }>();

/** The entries as lines that fit; an entry is put into lines once a width. */
export function logLines(entries: readonly LogEntry[], style: ScreenStyle): string[] {
  return entries.flatMap((entry) => linesOf(entry, style));
}

/** One entry as lines that fit. */
function linesOf(entry: LogEntry, { columns, colors, now }: ScreenStyle): readonly string[] {
  // At midnight lines get their date.
  const key = `${columns} ${new Date(now).toDateString()}`;
  const known = linesOfEntry.get(entry);
  if (known?.key === key) return known.lines;
  const text = formatLog(entry, { colors, showAgent: false, now }).replaceAll("\t", "    ");
  const lines = text.split("\n").flatMap((line) => wrap(line, columns));
  linesOfEntry.set(entry, { key, lines });
  return lines;
}

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
