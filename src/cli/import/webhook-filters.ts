import { filterTable } from "../../webhooks/providers/table.ts";
import type { KeyRemark } from "./remarks.ts";
import { tableAt, textAt, textsAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";

/** A `[[webhooks]]` entry here, and what differs from theirs. */
export interface TranslatedEntry {
  readonly table: Table;
  readonly remarks: readonly Omit<KeyRemark, "path">[];
}

/** Filters with another name here, by type of source and name. */
const renamed = new Map([["slack team_ids", "teams"]]);

/** Keys that an entry may have whatever the type of its source is. */
const commonKeys = ["source", "where", "ignoreSenders", "ignoreBots"];

const same = "same";
/** The event has no such field, and passes there. */
const passes = "passes";

/**
 * What GitHub's filters compare there, by filter and event, then for all other events: the same as here, a field of the
 * payload, or nothing. A comment's `author` is that of the issue or pull request, and a pull request's branch its head.
 */
const githubFilters = new Map([
  ["author issue_comment", "issue.user.login"],
  ["author pull_request_review", "pull_request.user.login"],
  ["author", same],
  ["branches push", same],
  ["branches workflow_run", same],
  ["branches pull_request", "pull_request.head.ref"],
  ["branches pull_request_review", "pull_request.head.ref"],
  ["branches", passes],
  ["conclusions workflow_run", same],
  ["conclusions", passes],
]);

/** One or more entries that start the agent for the same events as theirs does. */
export function translateFilters(theirs: Table, type: string): readonly TranslatedEntry[] {
  const known = [...commonKeys, ...Object.keys(filterTable[type] ?? {})];
  const entries = Object.entries(theirs).map(
    ([key, value]) => [renamed.get(`${type} ${key}`) ?? key, value] as const,
  );
  const lost = entries.map(([key]) => key).filter((key) => !known.includes(key));
  const remarks = lost.map((key) => left(`${key} is not a filter of ${type} webhooks; left out`));
  const entry = without(Object.fromEntries(entries), ...lost);
  const own = type === "github" ? githubEntries(entry) : [{ table: entry, remarks: [] }];
  return own.map((one) => ({ table: one.table, remarks: [...remarks, ...one.remarks] }));
}

function githubEntries(entry: Table): readonly TranslatedEntry[] {
  const filters = Object.keys(entry).filter((key) => githubFilters.has(key));
  const events = textsAt(entry, "events");
  if (events.length === 0) {
    const fix = 'events = ["issues", "push"], those that you need';
    const remarks = filters.map((filter) => ({
      message: `without events, ${filter} means something else for some of them here`,
      fix,
    }));
    return [{ table: entry, remarks }];
  }
  const subjectsOf = (event: string) => filters.map((filter) => subjectOf(filter, event)).join();
  return [...Map.groupBy(events, subjectsOf).values()].flatMap((group) => {
    const [event = ""] = group;
    const changed = filters.filter((filter) => subjectOf(filter, event) !== same);
    const remarks = changed.map((filter) => difference(filter, subjectOf(filter, event), group));
    const start: readonly Table[] = [{ ...entry, events: group }];
    return changed
      .reduce((all, filter) => all.flatMap((one) => withSubject(one, filter, event)), start)
      .map((table) => ({ table, remarks }));
  });
}

function subjectOf(filter: string, event: string): string {
  return githubFilters.get(`${filter} ${event}`) ?? githubFilters.get(filter) ?? same;
}

/** Several entries where a filter's list becomes conditions that take one value each. */
function withSubject(entry: Table, filter: string, event: string): readonly Table[] {
  const rest = without(entry, filter);
  const one = textAt(entry, filter);
  const values = one === null ? textsAt(entry, filter) : [one];
  const subject = subjectOf(filter, event);
  if (subject === passes || values.length === 0) return [rest];
  return values.map((value) => ({
    ...rest,
    where: { ...tableAt(rest, "where"), [subject]: value },
  }));
}

function difference(filter: string, subject: string, events: readonly string[]) {
  const on = events.join(", ");
  return left(
    subject === passes
      ? `${filter} is left out for ${on}: such events have none, and pass there`
      : `${filter} of ${on} is another field here; where compares ${subject}, as it was there`,
  );
}

function left(message: string): Omit<KeyRemark, "path"> {
  return { message, fix: null };
}
