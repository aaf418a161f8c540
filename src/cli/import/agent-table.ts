import { agentSchema } from "../../config/agent-schema.ts";
import { ourReference } from "./credential-map.ts";
import { harnessFor } from "./harness.ts";
import { preHooks } from "./preflight.ts";
import { keyEdit, keyNote } from "./remark.ts";
import type { KeyRemark } from "./remark.ts";
import { isTable, tableAt, textAt, textsAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";
import { mapEntry } from "./webhook-entries.ts";

/** What the project says about an agent. */
export interface AgentContext {
  readonly name: string;
  /** The models of an agent that names none. */
  readonly models: readonly string[];
  /** Type of each webhook source by its name; null for one without a counterpart. */
  readonly sources: ReadonlyMap<string, string | null>;
  /** Keys that the project sets for this agent. */
  readonly overrides: Table;
}

export interface MappedTable {
  readonly table: Table;
  readonly remarks: readonly KeyRemark[];
}

/** The value of a key here; undefined leaves the key out. */
interface MappedValue {
  readonly value: unknown;
  readonly remarks: readonly KeyRemark[];
}

type MapValue = (value: unknown, context: AgentContext) => MappedValue;

/** Keys whose values differ. Every other key is taken as it is when it is a key here, too. */
const mapped: Readonly<Record<string, MapValue>> = {
  credentials: (value) => same(Array.isArray(value) ? value.map(credentialName) : value),
  harness: (value) => harnessFor(value),
  params: mapParams,
  runtime: mapRuntime,
  webhooks: mapWebhooks,
};

const known = Object.keys(agentSchema.shape);

/** An agent's config of theirs, of any of their formats, as it is here. */
export function mapAgent(theirs: Table, context: AgentContext): MappedTable {
  const given = { ...theirs, ...context.overrides };
  const table: Record<string, unknown> = {
    models: context.models,
    credentials: [],
    ...without(given, "model", "preflight"),
  };
  const remarks: KeyRemark[] = [];
  for (const [key, value] of Object.entries(table)) {
    const result = known.includes(key) ? mapKey(key, value, context) : unknownKey(key);
    remarks.push(...result.remarks);
    if (result.value === undefined) Reflect.deleteProperty(table, key);
    else table[key] = result.value;
  }
  addPreHooks(table, given, remarks);
  addCallable(table, remarks);
  return { table, remarks };
}

function mapKey(key: string, value: unknown, context: AgentContext): MappedValue {
  return Object.hasOwn(mapped, key) ? (mapped[key] ?? same)(value, context) : same(value);
}

function same(value: unknown): MappedValue {
  return { value, remarks: [] };
}

function unknownKey(key: string): MappedValue {
  return { value: undefined, remarks: [keyNote([], `${key} is not a key of an agent; left out`)] };
}

function credentialName(value: unknown): unknown {
  return typeof value === "string" ? ourReference(value) : value;
}

/** Here they are texts and lists of texts; the agent reads the same from them. */
function mapParams(value: unknown): MappedValue {
  if (!isTable(value)) return same(value);
  const entries = Object.entries(value).map(([key, one]) => [key, paramOf(one)] as const);
  const changed = entries.filter(([key, one]) => one !== value[key]).map(([key]) => key);
  const remarks = changed.map((key) =>
    keyNote(["params", key], `params.${key} is written as text`),
  );
  return { value: Object.fromEntries(entries), remarks };
}

function paramOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.every((item) => typeof item === "string") ? value : value.map(paramText);
  }
  return paramText(value);
}

function paramText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function mapRuntime(value: unknown): MappedValue {
  if (!isTable(value)) return same(value);
  const { groups, ...kept } = value;
  const names = Array.isArray(groups) ? groups.join(",") : "";
  if (names === "") return same(kept);
  const user = textAt(value, "run_as") ?? "al-agent";
  const message = `runtime.groups is not here; give the OS user ${user} the groups instead`;
  const fix = `sudo usermod --append --groups ${names} ${user}`;
  return { value: kept, remarks: [keyEdit(["runtime"], message, fix)] };
}

function mapWebhooks(value: unknown, { sources }: AgentContext): MappedValue {
  if (!Array.isArray(value)) return same(value);
  const entries: Table[] = [];
  const remarks: KeyRemark[] = [];
  for (const theirs of value.filter(isTable)) {
    const source = textAt(theirs, "source") ?? "";
    const type = sources.get(source);
    if (type === null) remarks.push(lostEntry(source, theirs));
    else if (type === undefined) entries.push(theirs);
    else
      for (const one of mapEntry(theirs, type)) {
        const path = ["webhooks", entries.push(one.entry) - 1];
        remarks.push(...one.remarks.map((remark) => ({ ...remark, path })));
      }
  }
  return { value: entries.length === 0 ? undefined : entries, remarks };
}

function lostEntry(source: string, entry: Table): KeyRemark {
  const events = textsAt(entry, "events").join(", ");
  const what = `deliveries of ${source}${events === "" ? "" : ` (${events})`} start it no more`;
  const message = `${what}: al has no such type of webhook source; the entry is left out`;
  const fix =
    'a [[webhooks]] entry for a source of type "standard", with a service that signs for it in between';
  return keyEdit([], message, fix);
}

function addPreHooks(table: Record<string, unknown>, given: Table, remarks: KeyRemark[]): void {
  if (given.preflight === undefined) return;
  const { commands, remarks: more } = preHooks(given.preflight);
  const hooks = tableAt(table, "hooks");
  table.hooks = { ...hooks, pre: [...commands, ...textsAt(hooks, "pre")] };
  remarks.push(...more);
}

/** There such an agent is refused; here it says that others start it. */
function addCallable(table: Record<string, unknown>, remarks: KeyRemark[]): void {
  if (table.schedule !== undefined || table.webhooks !== undefined || table.scale === 0) return;
  if (table.callable !== undefined) return;
  table.callable = true;
  const message =
    "it has neither schedule nor webhooks, so others start it: al run, or calls of agents";
  remarks.push(keyNote(["callable"], message));
}
