import { filterTable } from "../../webhooks/providers/table.ts";
import { keyEdit, keyNote } from "./remark.ts";
import type { KeyRemark } from "./remark.ts";
import { textAt, textsAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";

/** An agent's `[[webhooks]]` entry here, with what there is to know of it. */
export interface MappedEntry {
  readonly entry: Table;
  readonly remarks: readonly Omit<KeyRemark, "path">[];
}

/** Filters with another name here, by type of source. */
const renamedFilters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  slack: { team_ids: "teams" },
};

/** Keys that an entry may have whatever the type of its source is. */
const commonKeys = ["source", "where", "ignoreSenders", "ignoreBots"];

/**
 * What GitHub's filters compare there where ours compare something else: a comment's `author` is that of the issue or
 * pull request, and a pull request's branch is its head.
 */
const otherSubjects = [
  { filter: "author", events: ["issue_comment"], path: "issue.user.login" },
  { filter: "author", events: ["pull_request_review"], path: "pull_request.user.login" },
  {
    filter: "branches",
    events: ["pull_request", "pull_request_review"],
    path: "pull_request.head.ref",
  },
];

/** Events without such a field pass there, and never here. */
const onlyFor: Readonly<Record<string, readonly string[]>> = {
  branches: ["push", "workflow_run", "pull_request", "pull_request_review"],
  conclusions: ["workflow_run"],
};

/** An entry of theirs for a source of a type that is here, too: one or more that start the agent for the same events. */
export function mapEntry(theirs: Table, type: string): readonly MappedEntry[] {
  const { entry, remarks } = withKnownFilters(theirs, type);
  const entries = type === "github" ? githubEntries(entry) : [{ entry, remarks: [] }];
  return entries.map((one) => ({ entry: one.entry, remarks: [...remarks, ...one.remarks] }));
}

function withKnownFilters(theirs: Table, type: string): MappedEntry {
  const names = renamedFilters[type] ?? {};
  const known = [...commonKeys, ...Object.keys(filterTable[type] ?? {})];
  const renamed = Object.entries(theirs).map(([key, value]) => [names[key] ?? key, value] as const);
  const kept = renamed.filter(([key]) => known.includes(key));
  const lost = renamed.filter(([key]) => !known.includes(key)).map(([key]) => key);
  const remarks = lost.map((key) =>
    remarkless(`${key} is not a filter of ${type} webhooks; left out`),
  );
  return { entry: Object.fromEntries(kept), remarks };
}

function githubEntries(entry: Table): readonly MappedEntry[] {
  const events = textsAt(entry, "events");
  if (events.length === 0) return [{ entry, remarks: withoutEvents(entry) }];
  const groups = Map.groupBy(events, (event) => JSON.stringify(variantsFor(event, entry)));
  return [...groups.values()].flatMap((own) =>
    variantsFor(own[0] ?? "", entry).map((variant) => {
      const mapped = { source: entry.source, events: own, ...without(variant, "source", "events") };
      return { entry: mapped, remarks: differencesOf(entry, mapped, own) };
    }),
  );
}

/** The entry for one event: several where a filter's list becomes conditions that each take one value. */
function variantsFor(event: string, entry: Table): readonly Table[] {
  const lost = Object.keys(onlyFor).filter((filter) => onlyFor[filter]?.includes(event) === false);
  return otherSubjects.reduce<readonly Table[]>(
    (variants, { filter, events, path }) =>
      events.includes(event)
        ? variants.flatMap((variant) => withCondition(variant, filter, path))
        : variants,
    [without(entry, ...lost)],
  );
}

function withCondition(entry: Table, filter: string, path: string): readonly Table[] {
  const one = textAt(entry, filter);
  const values = one === null ? textsAt(entry, filter) : [one];
  if (values.length === 0) return [entry];
  const { where = {} } = entry;
  return values.map((value) => {
    const condition = { ...(where as Table), [path]: value };
    return { ...without(entry, filter), where: condition };
  });
}

function differencesOf(
  before: Table,
  after: Table,
  events: readonly string[],
): MappedEntry["remarks"] {
  const filters = [
    ...new Set([...otherSubjects.map(({ filter }) => filter), ...Object.keys(onlyFor)]),
  ];
  const on = events.join(", ");
  return filters
    .filter((filter) => Object.hasOwn(before, filter) && !Object.hasOwn(after, filter))
    .map((filter) => {
      const rule = otherSubjects.find(
        (each) => each.filter === filter && each.events.includes(events[0] ?? ""),
      );
      return remarkless(
        rule === undefined
          ? `${filter} is left out for ${on}: such events have none, and pass there`
          : `${filter} of ${on} is another field here; where compares ${rule.path}, as it was there`,
      );
    });
}

function withoutEvents(entry: Table): MappedEntry["remarks"] {
  const unclear = ["author", "branches", "conclusions"].filter((filter) =>
    Object.hasOwn(entry, filter),
  );
  return unclear.map((filter) => {
    const message = `without events, ${filter} means something else for some of them here`;
    return withoutPath(keyEdit([], message, 'events = ["issues", "push"], those that you need'));
  });
}

function remarkless(message: string): Omit<KeyRemark, "path"> {
  return withoutPath(keyNote([], message));
}

function withoutPath({ kind, message, fix }: KeyRemark): Omit<KeyRemark, "path"> {
  return { kind, message, fix };
}
