import { agentSchema } from "../../../foundation/config/agent-keys.ts";
import { ourReference } from "./credentials.ts";
import { translateHarness } from "./project-config.ts";
import { isTable, tablesAt, textAt, textsAt, without, translateKeys, tableAt } from "./tables.ts";
import type { Table, AddRemark, Dialect } from "./tables.ts";
import { filterTable } from "../../../features/webhooks/providers/table.ts";

/** The parts of the project that an agent needs. */
export interface AgentContext {
  /** The models of an agent without its own. */
  readonly models: readonly string[];
  /** Type of each webhook source by its name; null for one without a counterpart. */
  readonly sources: ReadonlyMap<string, string | null>;
}

const { shape } = agentSchema;

const agentKeys: Dialect = {
  owner: "an agent",
  known: { "": Object.keys(shape), runtime: Object.keys(shape.runtime.unwrap().shape) },
  removed: {
    preflight: ["its steps are commands here", '[hooks] with pre = ["a shell command"]'],
    "runtime.groups": [
      "the OS user of its runs has to be in the groups",
      "sudo usermod --append --groups <groups> <runtime.run_as>",
    ],
  },
};

/** An agent's config, from config.toml, agent-config.toml or front matter, translated. */
export function translateAgent(theirs: Table, context: AgentContext, add: AddRemark): Table {
  const given = { models: context.models, credentials: [], ...without(theirs, "model") };
  const known = translateHarness(translateKeys(given, agentKeys, add), add);
  const { credentials, params } = known;
  const table: Record<string, unknown> = { ...without(known, "webhooks") };
  if (Array.isArray(credentials)) {
    table.credentials = credentials.map((name: unknown) =>
      typeof name === "string" ? ourReference(name) : name,
    );
  }
  if (isTable(params)) table.params = textParams(params, add);
  const webhooks: Table[] = [];
  for (const entry of tablesAt(known, "webhooks")) {
    const first = webhooks.length;
    const addAt: AddRemark = ([index], message, fix) =>
      add(typeof index === "number" ? ["webhooks", first + index] : [], message, fix);
    webhooks.push(...translateEntry(entry, context.sources, addAt));
  }
  if (webhooks.length > 0) table.webhooks = webhooks;
  if (!isStarted(table)) {
    table.callable = true;
    const message =
      "it has neither schedule nor webhooks, so al run and calls of agents are what starts it";
    add(["callable"], message);
  }
  return table;
}

/** Action Llama rejects an agent without a trigger; here it is callable. */
function isStarted({ schedule, webhooks, callable, scale }: Table): boolean {
  return scale === 0 || [schedule, webhooks, callable].some((value) => value !== undefined);
}

/** Params are scalars and lists of scalars here; others become text for the agent. */
function textParams(params: Table, add: AddRemark): Table {
  const text = (value: unknown) =>
    ["string", "number", "boolean"].includes(typeof value) ? value : JSON.stringify(value);
  const entries = Object.entries(params).map(([key, value]) => {
    const written = Array.isArray(value) ? value.map(text) : text(value);
    if (JSON.stringify(written) !== JSON.stringify(value)) {
      add(["params", key], `params.${key} is written as text`);
    }
    return [key, written] as const;
  });
  return Object.fromEntries(entries);
}

/** Null if no source here can replace the entry. */
function translateEntry(
  theirs: Table,
  sources: AgentContext["sources"],
  add: AddRemark,
): readonly Table[] {
  const source = textAt(theirs, "source") ?? "";
  const type = sources.get(source);
  if (type === undefined) return [theirs];
  if (type !== null) return translateFilters(theirs, type, add);
  const events = textsAt(theirs, "events").join(", ");
  const message = `deliveries of ${source}${events === "" ? "" : ` (${events})`} do not start it: al has no such type of webhook source; the entry is left out`;
  const fix =
    'a [[webhooks]] entry for a source of type "standard", with a service that signs for it in between';
  add([], message, fix);
  return [];
}

/** Filters with another name here, by type of source and name. */
const renamed = new Map([["slack team_ids", "teams"]]);

/** Keys that an entry may have for any type of source. */
const commonKeys = ["source", "where", "ignoreSenders", "ignoreBots"];

const same = "same";
/** The event has no such field, and passes in Action Llama. */
const passes = "passes";

/**
 * The values that GitHub's filters compare there, by filter and event, then for all other events: the same as here, a field of the
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

/** A filter that compares another field for some events. */
interface Change {
  readonly filter: string;
  readonly subject: string;
}

/**
 * One or more `[[webhooks]]` entries that start the agent for the same events as the original. The paths of remarks
 * begin with the index among these.
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

/** Several entries if a filter's list becomes conditions with one value each. */
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
