import type { DatabaseSync } from "node:sqlite";
import type { SearchQuery } from "./search-report.ts";
import { Problem } from "../../foundation/errors.ts";
import { utcDate } from "../../foundation/logs/log-files.ts";
import { marks, matchExpression, placesTable } from "./index-format.ts";
import { lineAt } from "./match-of.ts";
import { parseTerms, type Term } from "./terms.ts";

/** A line by its day and its number in the day. */
export interface Place {
  readonly day: string;
  readonly id: number;
}

/** The lines of a day that an expression finds, with numbers between two bounds, without the bounds. */
export interface DayPart {
  readonly day: string;
  readonly expression: string;
  readonly above: number;
  readonly below: number;
}

const noEnd = Number.MAX_SAFE_INTEGER;

export type Scope = ReturnType<typeof scopeOf>;

/** The lines of an index that a query asks for. Throws Problem `bad_search`. */
export function scopeOf(db: DatabaseSync, dir: string, query: SearchQuery) {
  const { order, agent, instance, kind } = query;
  const isNewest = order === "newest";
  const terms: readonly Term[] = parseTerms(query.q);
  const selectFile = db.prepare("SELECT name, agent FROM files WHERE id = ?");
  const fileOf = (id: number): { name: string; agent: string } => {
    const row = selectFile.get(id);
    return { name: String(row?.name), agent: String(row?.agent) };
  };
  const selectRun = db.prepare("SELECT id FROM runs WHERE instance = ?");
  const run = instance === undefined ? undefined : Number(selectRun.get(instance)?.id ?? -1);
  const selectOwn = db.prepare("SELECT id FROM files WHERE day = ? AND agent = ?");
  const timeOf = (file: number, start: number): number =>
    lineAt(dir, fileOf(file).name, start)?.content.time ?? 0;
  const since = lastBefore(db, query, timeOf);
  const isPassed = (day: string, after: Place | null): boolean =>
    after !== null && (isNewest ? day > after.day : day < after.day);
  /** Null if the agent has no log file of that day. */
  const expressionFor = (day: string, more: readonly string[]): string | null => {
    const lineMarks = [...more];
    if (run !== undefined) lineMarks.push(marks.run(run));
    if (kind !== undefined) lineMarks.push(marks.kind(kind));
    if (agent !== undefined) {
      const own = selectOwn.get(day, agent);
      if (own === undefined) return null;
      lineMarks.push(marks.file(Number(own.id)));
    }
    const expression = matchExpression(terms, lineMarks);
    // The instructions are in each prompt: their words would find all runs.
    return kind === undefined ? `${expression} NOT "${marks.kind("prompt")}"` : expression;
  };
  const days = db.prepare("SELECT day FROM days WHERE day >= ? ORDER BY day").all(since.day);
  const sorted = days.map(({ day }) => String(day));
  return {
    terms,
    order,
    /** In the order of the search. */
    days: isNewest ? sorted.reverse() : sorted,
    /** The lines of some days that pass the filters and have the marks, after a place in the order of the search. */
    *parts(
      ofDays: readonly string[],
      more: readonly string[],
      after: Place | null = null,
    ): Generator<DayPart> {
      for (const day of ofDays) {
        const expression = isPassed(day, after) ? null : expressionFor(day, more);
        if (expression === null) continue;
        const first = day === since.day ? since.id : 0;
        const from = after?.day === day ? after.id : null;
        yield isNewest
          ? { day, expression, above: first, below: from ?? noEnd }
          : { day, expression, above: from ?? first, below: noEnd };
      }
    },
    /** Name and agent of a log file. */
    fileOf,
  };
}

/** The last line before the query's `since`; number 0 if the day has none. */
function lastBefore(
  db: DatabaseSync,
  { since }: SearchQuery,
  timeOf: (file: number, start: number) => number,
): Place {
  if (since === undefined) return { day: "", id: 0 };
  const time = Date.parse(since);
  const day = utcDate(time);
  const isIndexed = db.prepare("SELECT 1 FROM days WHERE day = ?").get(day) !== undefined;
  if (!isIndexed) return { day, id: 0 };
  const places = placesTable(day);
  const select = db.prepare(`SELECT file, start FROM ${places} WHERE id = ?`);
  let low = 0;
  let high = Number(db.prepare(`SELECT max(id) AS last FROM ${places}`).get()?.last ?? 0);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const place = select.get(middle);
    const found = place === undefined ? 0 : timeOf(Number(place.file), Number(place.start));
    if (found < time) low = middle;
    else high = middle - 1;
  }
  return { day, id: low };
}

/** The place in the `next` of a page; null for the first page. Throws Problem `bad_cursor`. */
export function placeOf({ before }: SearchQuery): Place | null {
  if (before === undefined) return null;
  const [, day, id] = /^(\d{4}-\d{2}-\d{2})\.(\d{1,15})$/.exec(before) ?? [];
  if (day !== undefined && id !== undefined) return { day, id: Number(id) };
  throw new Problem(
    "bad_cursor",
    `"before" is not the \`next\` of a page: ${before.slice(0, 40)}`,
    "leave it out for the first page",
  );
}
