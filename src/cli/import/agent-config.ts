import { agentSchema } from "../../config/agent-schema.ts";
import { ourReference } from "./credential-names.ts";
import { translateHarness } from "./project-config.ts";
import type { KeyRemark } from "./remarks.ts";
import { isTable, tablesAt, textAt, textsAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";
import { translateKeys } from "./translate-keys.ts";
import type { Dialect, Translated } from "./translate-keys.ts";
import { translateFilters } from "./webhook-filters.ts";

/** What the project says about an agent. */
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
export function translateAgent(theirs: Table, { models, sources }: AgentContext): Translated {
  const given = { models, credentials: [], ...without(theirs, "model") };
  const keys = translateKeys(given, agentKeys);
  const { table: known, remarks: ofHarness } = translateHarness(keys.table);
  const table: Record<string, unknown> = { ...known };
  const remarks = [...keys.remarks, ...ofHarness];
  table.credentials = Array.isArray(table.credentials)
    ? table.credentials.map((name: unknown) =>
        typeof name === "string" ? ourReference(name) : name,
      )
    : table.credentials;
  if (isTable(table.params)) table.params = textParams(table.params, remarks);
  const webhooks = tablesAt(table, "webhooks").flatMap((entry) => translateEntry(entry, sources));
  const entries = webhooks.flatMap(({ table: entry }) => (entry === null ? [] : [entry]));
  if (entries.length > 0) table.webhooks = entries;
  else Reflect.deleteProperty(table, "webhooks");
  for (const { table: entry, remarks: own } of webhooks) {
    const path = entry === null ? [] : ["webhooks", entries.indexOf(entry)];
    remarks.push(...own.map(({ message, fix }) => ({ path, message, fix })));
  }
  if (!isStarted(table)) {
    table.callable = true;
    const message =
      "it has neither schedule nor webhooks, so al run and calls of agents are what starts it";
    remarks.push({ path: ["callable"], message, fix: null });
  }
  return { table, remarks };
}

/** Action Llama refuses an agent that nothing starts; here it says that it is callable. */
function isStarted({ schedule, webhooks, callable, scale }: Table): boolean {
  return scale === 0 || [schedule, webhooks, callable].some((value) => value !== undefined);
}

/** Params are texts and lists of texts here; the agent reads the same from them. */
function textParams(params: Table, remarks: KeyRemark[]): Table {
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const entries = Object.entries(params).map(([key, value]) => {
    const written = Array.isArray(value) ? value.map(text) : text(value);
    if (JSON.stringify(written) !== JSON.stringify(value)) {
      const message = `params.${key} is written as text`;
      remarks.push({ path: ["params", key], message, fix: null });
    }
    return [key, written] as const;
  });
  return Object.fromEntries(entries);
}

interface Entry {
  /** Null when nothing here starts the agent for it. */
  readonly table: Table | null;
  readonly remarks: readonly Omit<KeyRemark, "path">[];
}

function translateEntry(theirs: Table, sources: AgentContext["sources"]): readonly Entry[] {
  const source = textAt(theirs, "source") ?? "";
  const type = sources.get(source);
  if (type === undefined) return [{ table: theirs, remarks: [] }];
  if (type !== null) return translateFilters(theirs, type);
  const events = textsAt(theirs, "events").join(", ");
  const message = `deliveries of ${source}${events === "" ? "" : ` (${events})`} do not start it: al has no such type of webhook source; the entry is left out`;
  const fix =
    'a [[webhooks]] entry for a source of type "standard", with a service that signs for it in between';
  return [{ table: null, remarks: [{ message, fix }] }];
}
