import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { agentKeys } from "../../../foundation/config/agent-keys.ts";
import { writtenAlert } from "../../../foundation/config/alert-options.ts";
import { writtenAlertTargets } from "../../../foundation/config/alert-targets.ts";
import { writtenBudget } from "../../../foundation/config/budget.ts";
import { writtenCluster } from "../../../foundation/config/cluster.ts";
import { writtenHeartbeat } from "../../../foundation/config/heartbeat.ts";
import { writtenKeys } from "../../../foundation/config/key-table.ts";
import { modelKeys } from "../../../foundation/config/model-keys.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";

/** The project's active config, with the keys that its file has. Unset keys are left out. */
export function projectTomlKeys(project: ProjectConfig, projectDir: string): object {
  const { models, local, webhooks, budget, cluster, alerts, alert, ...rest } = project;
  const { heartbeat, defaultWaitTimeoutSeconds, resourceLockTimeoutSeconds, ...same } = rest;
  const { timeoutSeconds, ...localRest } = local;
  return withoutNulls({
    ...same,
    defaultWaitTimeout: defaultWaitTimeoutSeconds,
    resourceLockTimeout: resourceLockTimeoutSeconds,
    models: mapped(models, (model) => writtenKeys(modelKeys, model, projectDir)),
    local: { ...localRest, timeout: timeoutSeconds },
    webhooks: mapped(webhooks, withoutName),
    budget: writtenBudget(budget),
    cluster: cluster && writtenCluster(cluster),
    alerts: writtenAlertTargets(alerts),
    alert: writtenAlert(alert),
    heartbeat: writtenHeartbeat(heartbeat),
  });
}

/** An agent's active config, with the keys that its file has; the content of its SKILL.md is not among them. */
export function agentTomlKeys(agent: AgentConfig, projectDir: string): object {
  return withoutNulls(writtenKeys(agentKeys, agent, projectDir));
}

/** `key = value` lines of TOML, tables as dotted keys. */
export function tomlLines(table: object, prefix = ""): string[] {
  return Object.entries(table).flatMap(([key, value]: [string, unknown]) => {
    const path = `${prefix}${tomlKey(key)}`;
    return isTable(value) ? tomlLines(value, `${path}.`) : [`${path} = ${tomlValue(value)}`];
  });
}

/** The name is already the table's. */
function withoutName(table: object): object {
  return Object.fromEntries(Object.entries(table).filter(([key]) => key !== "name"));
}

function mapped<T>(table: Readonly<Record<string, T>>, change: (value: T) => object): object {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value)]));
}

/** TOML has no null: unset keys are absent. */
function withoutNulls(table: object): object {
  const entries = Object.entries(table)
    .filter(([, value]: [string, unknown]) => value !== null)
    .map(([key, value]: [string, unknown]) => [key, isTable(value) ? withoutNulls(value) : value]);
  return Object.fromEntries(entries) as object;
}

function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function tomlKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (!isTable(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, one]) => `${tomlKey(key)} = ${tomlValue(one)}`);
  return `{ ${pairs.join(", ")} }`;
}
