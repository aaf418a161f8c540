import { projectSchema } from "../../config/project-schema.ts";
import { webhookSecretType } from "../../credentials/credential-types.ts";
import { filterTable } from "../../webhooks/providers/table.ts";
import type { MappedTable } from "./agent-table.ts";
import { harnessFor } from "./harness.ts";
import { mapModel } from "./models.ts";
import { keyEdit, keyNote } from "./remark.ts";
import type { KeyRemark } from "./remark.ts";
import { isTable, merged, tableAt, textAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";

/** Keys with another name or place here; a dot leads into a table. */
const moved: readonly (readonly [theirs: string, ours: string])[] = [
  ["maxTriggerDepth", "maxCallDepth"],
  ["webhookQueueSize", "workQueueSize"],
  ["gateway.lockTimeout", "resourceLockTimeout"],
];

/** Keys of theirs without a counterpart, and what is here instead. */
const lost: Readonly<Record<string, string>> = {
  telemetry: "al sends no telemetry; GET /metrics of the gateway has the numbers for Prometheus",
  cloud: "runs stay on the scheduler's machine",
  server: "al is started where the project is; al start --print-systemd prints a unit for a server",
  environment: "there are no environments; each project has one config.toml",
  feedback: "no agent changes the instructions of others",
  projectName: "a project is called as its directory",
  "local.enabled": 'an agent that is to run without a container has [runtime] type = "host-user"',
  "gateway.url": "webhooks are sent to the address by which the gateway can be reached",
  "gateway.maxChatSessions": "there is no chat",
};

/** Consumed elsewhere: they become part of models and agents. */
const elsewhere = ["model", "agents", "defaultAgentScale"];

const shape = projectSchema.shape;
const inner: Readonly<Record<string, readonly string[]>> = {
  local: Object.keys(shape.local.unwrap().shape),
  gateway: Object.keys(shape.gateway.unwrap().shape),
};

/** A project's config of theirs as it is here. `models` are those of older `[model]` tables. */
export function mapProject(theirs: Table, models: Table): MappedTable {
  const remarks: KeyRemark[] = [];
  let table = without(theirs, ...elsewhere);
  for (const [from, to] of moved) table = move(table, from, to, remarks);
  for (const path of Object.keys(lost)) table = leaveOut(table, path, lost[path] ?? "", remarks);
  for (const [key, known] of Object.entries(inner)) table = keepKnown(table, key, known, remarks);
  table = keepKnown({ "": table }, "", Object.keys(shape), remarks)[""] as Table;
  table = withHarness(table, remarks);
  const withModels = {
    ...table,
    ...mapAll("models", merged(models, tableAt(theirs, "models")), mapModel, remarks),
  };
  const result = {
    ...withModels,
    ...mapAll("webhooks", tableAt(theirs, "webhooks"), mapSource, remarks),
  };
  remarkImage(result, remarks);
  return { table: result, remarks };
}

/** The value at a path of one or two keys. */
function valueAt(table: Table, path: string): unknown {
  const [first = "", second] = path.split(".");
  return second === undefined ? table[first] : tableAt(table, first)[second];
}

function cutOut(table: Table, path: string): Table {
  const [first = "", second] = path.split(".");
  if (second === undefined) return without(table, first);
  const rest = without(tableAt(table, first), second);
  return Object.keys(rest).length === 0 ? without(table, first) : { ...table, [first]: rest };
}

function move(table: Table, from: string, to: string, remarks: KeyRemark[]): Table {
  const value = valueAt(table, from);
  if (value === undefined) return table;
  remarks.push(keyNote([to], `${from} is called ${to} here`));
  return { [to]: value, ...cutOut(table, from) };
}

function leaveOut(table: Table, path: string, instead: string, remarks: KeyRemark[]): Table {
  if (valueAt(table, path) === undefined) return table;
  remarks.push(keyNote([], `${path} is left out: ${instead}`));
  return cutOut(table, path);
}

function keepKnown(
  table: Table,
  key: string,
  known: readonly string[],
  remarks: KeyRemark[],
): Table {
  const value = table[key];
  if (!isTable(value)) return table;
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  for (const name of unknown) {
    const path = key === "" ? name : `${key}.${name}`;
    remarks.push(keyNote([], `${path} is not a key of a project; left out`));
  }
  return { ...table, [key]: without(value, ...unknown) };
}

function withHarness(table: Table, remarks: KeyRemark[]): Table {
  if (table.harness === undefined) return table;
  const { value, remarks: more } = harnessFor(table.harness);
  remarks.push(...more);
  return value === undefined ? without(table, "harness") : { ...table, harness: value };
}

/** The mapped tables of a key, without those that have no counterpart; nothing when there is none. */
function mapAll(
  key: string,
  tables: Table,
  map: (
    name: string,
    theirs: Table,
  ) => { readonly table: Table | null; readonly remarks: readonly KeyRemark[] },
  remarks: KeyRemark[],
): Table {
  const entries = Object.entries(tables).flatMap(([name, theirs]) => {
    const { table, remarks: more } = map(name, isTable(theirs) ? theirs : {});
    remarks.push(...more);
    return table === null ? [] : [[name, table] as const];
  });
  return entries.length === 0 ? { [key]: {} } : { [key]: Object.fromEntries(entries) };
}

/** Type of a source of theirs as it is here; null for one without a counterpart. */
export function sourceType(theirs: Table): string | null {
  const type = textAt(theirs, "type") ?? "";
  return Object.hasOwn(filterTable, type) ? type : null;
}

function mapSource(
  name: string,
  theirs: Table,
): { readonly table: Table | null; readonly remarks: readonly KeyRemark[] } {
  const type = sourceType(theirs);
  if (type === null) {
    const message = `the webhook source ${name} of type "${textAt(theirs, "type") ?? ""}" is left out: al has no such type`;
    const fix = `[webhooks.${name}] with type = "standard", for a service in between that signs as Standard Webhooks`;
    return { table: null, remarks: [keyEdit([], message, fix)] };
  }
  const named = textAt(theirs, webhookSecretType(type)) ?? textAt(theirs, "credential");
  if (theirs.allowUnsigned === true) return { table: { type, allowUnsigned: true }, remarks: [] };
  return { table: { type, credential: named ?? "default" }, remarks: [] };
}

function remarkImage(table: Table, remarks: KeyRemark[]): void {
  const image = textAt(tableAt(table, "local"), "image");
  if (image === null || image === "al-agent:latest") return;
  const message = `the image ${image} has to be built FROM al-agent:latest of this program`;
  remarks.push(keyEdit(["local", "image"], message, `docker build -t ${image} <its directory>`));
}
