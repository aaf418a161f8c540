import { projectSchema } from "../../../foundation/config/project-schema.ts";
import { webhookSecretType } from "../../../foundation/credentials/credential-types.ts";
import { filterTable } from "../../../features/webhooks/providers/table.ts";
import { isTable, merged, tableAt, tablesAt, textAt, without, translateKeys } from "./tables.ts";
import type { Table, AddRemark, Dialect } from "./tables.ts";

const { shape } = projectSchema;

/** How a project's `config.toml` differs. */
const projectKeys: Dialect = {
  owner: "a project",
  known: {
    // Action Llama's [telemetry] has other keys.
    "": Object.keys(shape).filter((key) => key !== "telemetry"),
    local: Object.keys(shape.local.unwrap().shape),
    gateway: Object.keys(shape.gateway.unwrap().shape),
  },
  renamed: {
    maxTriggerDepth: "maxCallDepth",
    webhookQueueSize: "workQueueSize",
    "gateway.lockTimeout": "resourceLockTimeout",
  },
  removed: {
    agents: ["each agent has a config.toml", "these keys in agents/<name>/config.toml"],
    defaultAgentScale: ["each agent has its own scale", "scale in agents/<name>/config.toml"],
    telemetry: [
      "al sends traces by OTLP; its keys are others, and GET /metrics has the numbers for Prometheus",
      '[telemetry] with otlp = "http://localhost:4318"',
    ],
    cloud: ["runs stay on the scheduler's machine"],
    server: ["al start --print-systemd prints a unit for a server"],
    environment: ["there are no environments; each project has one config.toml"],
    feedback: ["no agent changes the instructions of others"],
    projectName: ["a project has its directory's name"],
    "local.enabled": ['an agent without a container has [runtime] type = "host-user"'],
    "gateway.url": ["webhooks are sent to the address at which the gateway can be reached"],
    "gateway.maxChatSessions": ["there is no chat"],
  },
};

const modelKeys: Dialect = {
  owner: "a model",
  known: { "": Object.keys(shape.models.unwrap().valueType.shape) },
};

/** Action Llama's harnesses, by their `type`. */
const harnesses: Readonly<Record<string, Table>> = {
  pi: { type: "pi" },
  claude: { type: "llm-cli", command: "claude" },
};

/** A project's config, translated. `inline` are the models of older `[model]` tables. */
export function translateProject(theirs: Table, inline: Table, add: AddRemark): Table {
  const own = translateKeys(without(theirs, "model", "models", "webhooks"), projectKeys, add);
  remarkNetwork(theirs, add);
  const table: Record<string, unknown> = { ...translateHarness(own, add) };
  const models: Record<string, unknown> = {};
  for (const [name, model] of Object.entries(merged(inline, tableAt(theirs, "models")))) {
    models[name] = translateModel(name, isTable(model) ? model : {}, add);
  }
  const webhooks: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(tableAt(theirs, "webhooks"))) {
    const source = translateSource(name, isTable(value) ? value : {}, add);
    if (source !== null) webhooks[name] = source;
  }
  return Object.assign(table, { models, webhooks });
}

/** Without a named network, Action Llama's is open. */
function remarkNetwork(theirs: Table, add: AddRemark): void {
  if (textAt(tableAt(theirs, "local"), "network") !== null) return;
  const message =
    "runs reach their models, the hosts of their credentials and no others here, as the default network is closed";
  add([], message, '[network] with allow = ["api.example.com", "npm"]');
}

/** The table of a project or an agent with the translated harness. */
export function translateHarness(table: Table, add: AddRemark): Table {
  if (table.harness === undefined) return table;
  const name = textAt(tableAt(table, "harness"), "type") ?? "";
  const harness = Object.hasOwn(harnesses, name) ? harnesses[name] : undefined;
  if (harness === undefined) {
    const fix = '[harness] with type = "pi", or type = "llm-cli" and command = "claude"';
    add([], `harness "${name}" is not here; left out, so that pi is used`, fix);
    return without(table, "harness");
  }
  if (name !== "pi")
    add(["harness"], `harness ${name} is the command ${name} of type llm-cli here`);
  return { ...table, harness };
}

function translateModel(name: string, theirs: Table, add: AddRemark): Table {
  const table = translateKeys(theirs, modelKeys, add);
  if (table.provider === "custom" && table.baseUrl === undefined) {
    const fix = `in [models.${name}]: baseUrl = "https://…/v1"`;
    add(["models", name], "an endpoint of your own needs its address here", fix);
  }
  if (table.authType !== "pi_auth") return table;
  const message = "authType pi_auth, pi's own login, is not here; written as api_key";
  add(["models", name, "authType"], message);
  return { ...table, authType: "api_key" };
}

/** Our type of an imported webhook source; null without a counterpart. */
export function sourceType(theirs: Table): string | null {
  const type = textAt(theirs, "type") ?? "";
  return Object.hasOwn(filterTable, type) ? type : null;
}

function translateSource(name: string, theirs: Table, add: AddRemark): Table | null {
  const type = sourceType(theirs);
  if (type === null) {
    const message = `the webhook source ${name} of type "${textAt(theirs, "type") ?? ""}" is left out: al has no such type`;
    const fix = `[webhooks.${name}] with type = "standard", for a service in between that signs as Standard Webhooks`;
    add([], message, fix);
    return null;
  }
  if (theirs.allowUnsigned === true) return { type, allowUnsigned: true };
  const credential = textAt(theirs, webhookSecretType(type)) ?? textAt(theirs, "credential");
  return { type, credential: credential ?? "default" };
}

/**
 * The config with the webhook sources that agents name and the project lacks, as for agents without a project: a name
 * such as `github` or `my-github` contains the type.
 */
export function withImpliedSources(config: Table, agents: readonly Table[], add: AddRemark): Table {
  const webhooks: Record<string, unknown> = { ...tableAt(config, "webhooks") };
  for (const { source } of agents.flatMap((agent) => tablesAt(agent, "webhooks"))) {
    if (typeof source !== "string" || Object.hasOwn(webhooks, source)) continue;
    const type = Object.keys(filterTable).find((known) => source.toLowerCase().includes(known));
    if (type === undefined) continue;
    webhooks[source] = { type };
    const message = `agents name the webhook source ${source}, which the project lacked; written as type "${type}"`;
    add(["webhooks", source], message);
  }
  return { ...config, webhooks };
}

/**
 * Older agents and projects define a model in a `[model]` of their own, which is named by the provider's name of the
 * model. `nameOf` is undefined for an owner without one.
 */
export function inlineModels(owners: readonly Table[], taken: readonly string[]) {
  const names = new Map<string, string>();
  const models: Record<string, unknown> = {};
  for (const { model } of owners) {
    if (!isTable(model) || names.has(JSON.stringify(model))) continue;
    const id = textAt(model, "model")?.split("/").at(-1) ?? "model";
    let name = id;
    const level = textAt(model, "thinkingLevel");
    for (let count = 1; taken.includes(name) || name in models; count++) {
      name = `${id}-${count === 1 && level !== null ? level : count + 1}`;
    }
    names.set(JSON.stringify(model), name);
    models[name] = model;
  }
  return { models, nameOf: ({ model }: Table) => names.get(JSON.stringify(model)) };
}
