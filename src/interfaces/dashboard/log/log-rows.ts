import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { kindOf } from "../../../foundation/contracts/log-kinds.ts";
import { durationText } from "../../../../streams/duration-text.ts";
import { dollars } from "../../../features/spend/spend-text.ts";
import { joined } from "../text/format.ts";
import { counted } from "../../../foundation/contracts/format.ts";

/** A line of a log; `position` is the place after it. */
export interface LogLine {
  readonly position: string;
  readonly entry: LogEntry;
  /** Counts the lines of a page from the top; negative for earlier ones added above, so it never changes. */
  readonly seq: number;
}

/** A line as a page shows it, with marks that depend on its neighbours. */
export interface LogRow {
  readonly line: LogLine;
  /** The line's own entry, and further ones of the same running call. */
  readonly entries: readonly LogEntry[];
  /** Whether the line's day differs from that of the line above, or from today. */
  readonly beginsDay: boolean;
  /** Whether the line's run differs from that of the line above. */
  readonly beginsRun: boolean;
  /** Whether the line above, with no heading between, has the same time of day. */
  readonly hasSameTime: boolean;
  /** Whether a call still prints this output, as far as the log shows. */
  readonly isOpen: boolean;
}

type Draft = { -readonly [Name in keyof LogRow]: LogRow[Name] } & { entries: LogEntry[] };

/** The rows of lines that follow each other. `today` is a moment, epoch ms. */
export function rowsOf(lines: readonly LogLine[], today: number): readonly LogRow[] {
  const rows: Draft[] = [];
  const calls = createCalls();
  const dayOf = createDays();
  let before = { day: dayOf(today), run: "", second: NaN };
  for (const line of lines) {
    const { entry } = line;
    if (calls.join(entry)) continue;
    const run = entry.instanceId ?? before.run;
    const here = { day: dayOf(entry.time), run, second: Math.floor(entry.time / 1000) };
    const beginsDay = here.day !== before.day;
    const beginsRun = here.run !== before.run;
    const hasSameTime = !beginsDay && !beginsRun && here.second === before.second;
    const neighbours = { beginsDay, beginsRun, hasSameTime };
    const row = { line, entries: [entry], ...neighbours, isOpen: false };
    calls.follow(entry, row);
    rows.push(row);
    before = here;
  }
  return rows;
}

/** The output of running calls: all pieces of one call are one row. */
function createCalls() {
  const open = new Map<string, Draft>();
  const end = (key: string): void => {
    const row = open.get(key);
    if (row !== undefined) row.isOpen = false;
    open.delete(key);
  };
  return {
    /** Adds further output to the row of its call; false if it needs its own row. */
    join: (entry: LogEntry): boolean => {
      const row = kindOf(entry) === "tool-output" ? open.get(keyOf(entry)) : undefined;
      row?.entries.push(entry);
      return row !== undefined;
    },
    /** Notes which calls a row begins or ends. */
    follow: (entry: LogEntry, row: Draft): void => {
      const kind = kindOf(entry);
      if (kind === "tool-output") {
        row.isOpen = true;
        open.set(keyOf(entry), row);
      } else if (kind === "tool" || kind === "tool-result" || kind === "hook") {
        end(keyOf(entry));
      } else if (kind === "run" && typeof entry.outcome === "string") {
        for (const [key, { line }] of open)
          if (line.entry.instanceId === entry.instanceId) end(key);
      }
    },
  };
}

function keyOf({ instanceId, call }: LogEntry): string {
  return `${instanceId ?? ""} ${String(call)}`;
}

/** Days of every time zone begin at a quarter of an hour, in ms. */
const quarterMs = 900_000;

/** Computes the day of a moment; consecutive lines mostly have the same one. */
function createDays(): (time: number) => string {
  let last = { quarter: NaN, day: "" };
  return (time) => {
    const quarter = Math.floor(time / quarterMs);
    if (quarter !== last.quarter) last = { quarter, day: new Date(time).toDateString() };
    return last.day;
  };
}

/** How many lines are rendered, or left unchanged, together. */
const chunkLines = 100;

/** Rows rendered together. */
export interface LogChunk {
  readonly id: number;
  readonly rows: readonly LogRow[];
}

/** Groups rows. Rows and groups unchanged since `known` are the same objects. */
export function chunksOf(rows: readonly LogRow[], known: readonly LogChunk[]): readonly LogChunk[] {
  const knownChunks = new Map(known.map((chunk) => [chunk.id, chunk]));
  const chunks = Map.groupBy(rows, ({ line }) => Math.floor(line.seq / chunkLines));
  return [...chunks].map(([id, fresh]) => {
    const last = knownChunks.get(id);
    if (last === undefined) return { id, rows: fresh };
    const knownRows = new Map(last.rows.map((row) => [row.line, row]));
    const reused = fresh.map((row) => {
      const same = knownRows.get(row.line);
      return same !== undefined && isSame(same, row) ? same : row;
    });
    const isUnchanged =
      reused.length === last.rows.length && reused.every((row, index) => row === last.rows[index]);
    return isUnchanged ? last : { id, rows: reused };
  });
}

function isSame(a: LogRow, b: LogRow): boolean {
  return (
    a.entries.length === b.entries.length &&
    a.beginsDay === b.beginsDay &&
    a.beginsRun === b.beginsRun &&
    a.hasSameTime === b.hasSameTime &&
    a.isOpen === b.isOpen
  );
}

/** The usage of one turn: `1,204 tokens (1,000 in, 204 out) · $0.0012 · haiku`. */
export function usageText(entry: LogEntry): string {
  const { input, output, model } = entry;
  const isSplit = typeof input === "number" && typeof output === "number";
  const split = isSplit
    ? ` (${input.toLocaleString("en")} in, ${output.toLocaleString("en")} out)`
    : "";
  const [tokens = entry.msg, ...facts] = factList(entry);
  return joined([tokens + split, ...facts, typeof model === "string" && model]);
}

/** The numbers of a line in words, without those already in its text. */
export function factsOf(entry: LogEntry): string {
  return joined(factList(entry).filter((fact) => !entry.msg.includes(fact)));
}

/** The numbers of a line: duration, turns, tokens, cost. */
export function factList({ tokens, costUsd, durationMs, turns }: LogEntry): readonly string[] {
  const facts = [
    numberFact(durationMs, durationText),
    numberFact(turns, (count) => counted(count, "turn")),
    numberFact(tokens, (count) => counted(count, "token")),
    numberFact(costUsd, (cost) => (cost === 0 ? "" : dollars(cost))),
  ];
  return facts.filter((fact) => fact !== "");
}

function numberFact(value: unknown, text: (value: number) => string): string {
  return typeof value === "number" && Number.isFinite(value) ? text(value) : "";
}
