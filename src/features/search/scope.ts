import type { DatabaseSync } from "node:sqlite";
import type { SearchQuery } from "../../foundation/contracts/search.ts";
import { UserError } from "../../foundation/errors.ts";
import { utcDate } from "../../foundation/logs/log-files.ts";
import { daysIn, lastBefore } from "./day-reader.ts";
import type { DayPart, Order } from "./day-reader.ts";
import { marks, matchExpression } from "./index-format.ts";
import { lineAt } from "./line-reader.ts";
import { parseTerms } from "./terms.ts";
import type { Term } from "./terms.ts";

/** A line by its day and its number in it. */
export interface Place {
  readonly day: string;
  readonly id: number;
}

/** Which lines of an index a search asks for. */
export interface Scope {
  readonly terms: readonly Term[];
  readonly order: Order;
  /** In order. */
  readonly days: readonly string[];
  /** The lines of these days that pass the filters and have the marks, after a place in the order of the search. */
  parts(
    days: readonly string[],
    marks: readonly string[],
    after?: Place | null,
  ): Generator<DayPart>;
  /** Name and agent of a log file. */
  fileOf(id: number): { readonly name: string; readonly agent: string };
}

const noEnd = Number.MAX_SAFE_INTEGER;

export function scopeOf(db: DatabaseSync, dir: string, query: SearchQuery): Scope {
  const { order, agent, instance, kind } = query;
  const terms = parseTerms(query.q);
  const selectFile = db.prepare("SELECT name, agent FROM files WHERE id = ?");
  const fileOf = (id: number): { name: string; agent: string } => {
    const row = selectFile.get(id);
    return { name: String(row?.name), agent: String(row?.agent) };
  };
  const selectRun = db.prepare("SELECT id FROM runs WHERE instance = ?");
  const run = instance === undefined ? undefined : Number(selectRun.get(instance)?.id ?? -1);
  const selectOwn = db.prepare("SELECT id FROM files WHERE day = ? AND agent = ?");
  const since = sinceOf(db, query, ({ file, start }) => {
    return lineAt(dir, fileOf(file).name, start)?.content.time ?? null;
  });
  const isPassed = (day: string, after: Place | null): boolean =>
    after !== null && (order === "newest" ? day > after.day : day < after.day);
  /** Null for an agent without a log file of that day. */
  const expressionFor = (day: string, more: readonly string[]): string | null => {
    const lineMarks = [...more];
    if (run !== undefined) lineMarks.push(marks.run(run));
    if (kind !== undefined) lineMarks.push(marks.kind(kind));
    if (agent !== undefined) {
      const own = selectOwn.get(day, agent);
      if (own === undefined) return null;
      lineMarks.push(marks.file(Number(own.id)));
    }
    return matchExpression(terms, lineMarks);
  };
  return {
    terms,
    order,
    days: daysIn(db, order).filter((day) => day >= since.day),
    *parts(days, more, after = null) {
      for (const day of days) {
        const expression = isPassed(day, after) ? null : expressionFor(day, more);
        if (expression === null) continue;
        const first = day === since.day ? since.id : 0;
        const from = after?.day === day ? after.id : null;
        yield order === "newest"
          ? { day, expression, above: first, below: from ?? noEnd }
          : { day, expression, above: from ?? first, below: noEnd };
      }
    },
    fileOf,
  };
}

/** The last line before the time from which on lines are asked for. */
function sinceOf(
  db: DatabaseSync,
  { since }: SearchQuery,
  timeOf: Parameters<typeof lastBefore>[3],
): Place {
  if (since === undefined) return { day: "", id: 0 };
  const time = Date.parse(since);
  const day = utcDate(time);
  const isIndexed = db.prepare("SELECT 1 FROM days WHERE day = ?").get(day) !== undefined;
  return { day, id: isIndexed ? lastBefore(db, day, time, timeOf) : 0 };
}

/** The place that the `next` of a page names; null for the first page. Throws UserError `bad_cursor`. */
export function placeOf({ before }: SearchQuery): Place | null {
  if (before === undefined) return null;
  const [, day, id] = /^(\d{4}-\d{2}-\d{2})\.(\d{1,15})$/.exec(before) ?? [];
  if (day !== undefined && id !== undefined) return { day, id: Number(id) };
  throw new UserError("bad_cursor", `"before" is no \`next\` of a page: ${before.slice(0, 40)}`, {
    hint: "leave it out for the first page",
  });
}

/** The place as the `next` of a page. */
export function cursorOf({ day, id }: Place): string {
  return `${day}.${id}`;
}
