import { agentSchema } from "../../../foundation/config/agent-keys.ts";
import { ourReference } from "./credentials.ts";
import { translateKeys } from "./keys.ts";
import type { AddRemark, Dialect } from "./keys.ts";
import { translateHarness } from "./project-config.ts";
import { isTable, tablesAt, textAt, textsAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";
import { translateFilters } from "./webhook-filters.ts";

/** What an agent has from the project. */
export interface AgentContext {
  /** The models of an agent that names none. */
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

/** An agent's config, from config.toml, agent-config.toml or front matter, as it is here. */
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

/** Action Llama refuses an agent that nothing starts; here it is callable. */
function isStarted({ schedule, webhooks, callable, scale }: Table): boolean {
  return scale === 0 || [schedule, webhooks, callable].some((value) => value !== undefined);
}

/** Params are texts and lists of texts here; the agent reads the same from them. */
function textParams(params: Table, add: AddRemark): Table {
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const entries = Object.entries(params).map(([key, value]) => {
    const written = Array.isArray(value) ? value.map(text) : text(value);
    if (JSON.stringify(written) !== JSON.stringify(value)) {
      add(["params", key], `params.${key} is written as text`);
    }
    return [key, written] as const;
  });
  return Object.fromEntries(entries);
}

/** None when nothing here starts the agent for it. */
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
