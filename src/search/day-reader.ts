import type { DatabaseSync } from "node:sqlite";
import type { SearchQuery } from "../contracts/search.ts";
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

/** Lines of a day by number: those between the two, without them. */
export interface Between {
  readonly above: number;
  readonly below: number;
}

/** The lines between two numbers of a day that an expression finds, in order. */
export function* candidates(
  db: DatabaseSync,
  day: string,
  expression: string,
  { order, above, below }: Between & { readonly order: Order },
): Generator<Candidate> {
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

/** How many lines above a number of a day an expression finds. */
export function countIn(db: DatabaseSync, day: string, expression: string, above: number): number {
  const words = wordsTable(day);
  const statement = db.prepare(
    `SELECT count(*) AS n FROM ${words} WHERE ${words} MATCH ? AND rowid > ?`,
  );
  return Number(statement.get(expression, above)?.n);
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
