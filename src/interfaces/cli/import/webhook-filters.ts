import { filterTable } from "../../../features/webhooks/providers/table.ts";
import type { AddRemark } from "./keys.ts";
import { tableAt, textAt, textsAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";

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

/** A filter that compares something else for some events. */
interface Change {
  readonly filter: string;
  readonly subject: string;
}

/**
 * One or more `[[webhooks]]` entries that start the agent for the same events as theirs does. The paths of remarks begin
 * with the index among these.
 */
export function translateFilters(theirs: Table, type: string, add: AddRemark): Table[] {
  const known = [...commonKeys, ...Object.keys(filterTable[type] ?? {})];
  const entries = Object.entries(theirs).map(
    ([key, value]) => [renamed.get(`${type} ${key}`) ?? key, value] as const,
  );
  const lost = entries.map(([key]) => key).filter((key) => !known.includes(key));
  const entry = without(Object.fromEntries(entries), ...lost);
  const translated = type === "github" ? githubEntries(entry, add) : [entry];
  for (const index of translated.keys()) {
    for (const key of lost) add([index], `${key} is not a filter of ${type} webhooks; left out`);
  }
  return translated;
}

function githubEntries(entry: Table, add: AddRemark): Table[] {
  const filters = Object.keys(entry).filter((key) => githubFilters.has(key));
  const events = textsAt(entry, "events");
  if (events.length === 0) {
    const fix = 'events = ["issues", "push"], those that you need';
    for (const filter of filters) {
      add([0], `without events, ${filter} means something else for some of them here`, fix);
    }
    return [entry];
  }
  const translated: Table[] = [];
  const subjectsOf = (event: string) => filters.map((filter) => subjectOf(filter, event)).join();
  for (const group of Map.groupBy(events, subjectsOf).values()) {
    const changed = filters
      .map((filter) => ({ filter, subject: subjectOf(filter, group[0] ?? "") }))
      .filter(({ subject }) => subject !== same);
    const start: Table[] = [{ ...entry, events: group }];
    const split = (all: Table[], one: Change) => all.flatMap((each) => withSubject(each, one));
    for (const table of changed.reduce(split, start)) {
      for (const one of changed) add([translated.length], difference(one, group.join(", ")));
      translated.push(table);
    }
  }
  return translated;
}

function subjectOf(filter: string, event: string): string {
  return githubFilters.get(`${filter} ${event}`) ?? githubFilters.get(filter) ?? same;
}

/** Several entries where a filter's list becomes conditions that take one value each. */
function withSubject(entry: Table, { filter, subject }: Change): Table[] {
  const rest = without(entry, filter);
  const one = textAt(entry, filter);
  const values = one === null ? textsAt(entry, filter) : [one];
  if (subject === passes || values.length === 0) return [rest];
  const where = tableAt(rest, "where");
  return values.map((value) => ({ ...rest, where: { ...where, [subject]: value } }));
}

function difference({ filter, subject }: Change, events: string): string {
  return subject === passes
    ? `${filter} is left out for ${events}: such events have none, and pass there`
    : `${filter} of ${events} is another field here; where compares ${subject}, as it was there`;
}
