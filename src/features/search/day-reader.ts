import type { DatabaseSync } from "node:sqlite";
import type { SearchQuery } from "../../foundation/contracts/search.ts";
import { placesTable, wordsTable } from "./index-format.ts";

/** A line that matches: its number in the day, its log file, where it begins, and its run, 0 for none. */
export interface Candidate {
  readonly day: string;
  readonly id: number;
  readonly file: number;
  readonly start: number;
  readonly run: number;
}

export type Order = SearchQuery["order"];

/** The lines of a day that an expression finds, those between two numbers, without the two. */
export interface DayPart {
  readonly day: string;
  readonly expression: string;
  readonly above: number;
  readonly below: number;
}

/** The lines of parts of days, each in order. */
export function* candidates(
  db: DatabaseSync,
  parts: Iterable<DayPart>,
  order: Order,
): Generator<Candidate> {
  for (const { day, expression, above, below } of parts) {
    const [words, places] = [wordsTable(day), placesTable(day)];
    const statement = db.prepare(
      `SELECT id, file, start, run FROM ${words} JOIN ${places} ON id = ${words}.rowid
       WHERE ${words} MATCH ? AND ${words}.rowid > ? AND ${words}.rowid < ?
       ORDER BY ${words}.rowid ${order === "newest" ? "DESC" : "ASC"}`,
    );
    for (const { id, file, start, run } of statement.iterate(expression, above, below)) {
      yield { day, id: Number(id), file: Number(file), start: Number(start), run: Number(run) };
    }
  }
}

/** How many lines parts of days have. */
export function countIn(db: DatabaseSync, parts: Iterable<DayPart>): number {
  let sum = 0;
  for (const { day, expression, above, below } of parts) {
    const words = wordsTable(day);
    const statement = db.prepare(
      `SELECT count(*) AS n FROM ${words} WHERE ${words} MATCH ? AND rowid > ? AND rowid < ?`,
    );
    sum += Number(statement.get(expression, above, below)?.n);
  }
  return sum;
}

/** The days that have lines, in order. */
export function daysIn(db: DatabaseSync, order: Order): string[] {
  const days = db.prepare("SELECT day FROM days ORDER BY day").all();
  const sorted = days.map(({ day }) => String(day));
  return order === "newest" ? sorted.reverse() : sorted;
}

/** The number of the last line of a day that was written before a time (epoch ms); 0 for none. */
export function lastBefore(
  db: DatabaseSync,
  day: string,
  time: number,
  timeOf: (place: { readonly file: number; readonly start: number }) => number | null,
): number {
  const places = placesTable(day);
  const select = db.prepare(`SELECT file, start FROM ${places} WHERE id = ?`);
  let low = 0;
  let high = Number(db.prepare(`SELECT max(id) AS last FROM ${places}`).get()?.last ?? 0);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const place = select.get(middle);
    const found = place && timeOf({ file: Number(place.file), start: Number(place.start) });
    if ((found ?? 0) < time) low = middle;
    else high = middle - 1;
  }
  return low;
}
