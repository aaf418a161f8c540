import { relative } from "node:path";
import type { AgentConfig, ModelConfig } from "../../../streams/agent-config.ts";
import type { ProjectConfig } from "../../config/project-config.ts";

/** The project's config in force, with the keys that its file has. What is not set is left out. */
export function projectAsWritten(project: ProjectConfig, projectDir: string): object {
  const { models, local, webhooks, ...rest } = project;
  const { defaultWaitTimeoutSeconds, resourceLockTimeoutSeconds, ...same } = rest;
  const { timeoutSeconds, ...localRest } = local;
  return withoutNulls({
    ...same,
    defaultWaitTimeout: defaultWaitTimeoutSeconds,
    resourceLockTimeout: resourceLockTimeoutSeconds,
    models: mapped(models, (model) => modelAsWritten(model, projectDir)),
    local: { ...localRest, timeout: timeoutSeconds },
    webhooks: mapped(webhooks, withoutName),
  });
}

/** An agent's config in force, with the keys that its file has; what its SKILL.md tells is not among them. */
export function agentAsWritten(agent: AgentConfig): object {
  const { source, sourceCommit, harness, credentials } = agent;
  const { schedule, timezone, catchUp, callable, scale } = agent;
  return withoutNulls({
    ...{ source, sourceCommit, models: agent.models.map(({ name }) => name), harness },
    ...{ credentials, schedule, timezone, catchUp, callable, scale },
    timeout: agent.timeoutSeconds,
    maxWorkQueueSize: agent.queueSize,
    waitTimeout: agent.waitTimeoutSeconds,
    webhooks: agent.webhooks.map(webhookAsWritten),
    hooks: agent.hooks,
    params: agent.params,
    runtime: { type: agent.runtime.type, run_as: agent.runtime.runAs },
    local: agent.local,
  });
}

/** `key = value` lines of TOML, tables as dotted keys. */
export function tomlLines(table: object, prefix = ""): string[] {
  return Object.entries(table).flatMap(([key, value]: [string, unknown]) => {
    const path = `${prefix}${tomlKey(key)}`;
    return isTable(value) ? tomlLines(value, `${path}.`) : [`${path} = ${tomlValue(value)}`];
  });
}

function webhookAsWritten({ source, filters, where }: AgentConfig["webhooks"][number]): object {
  return { source, ...filters, ...(where === undefined ? {} : { where }) };
}

function modelAsWritten(model: ModelConfig, dir: string): object {
  const { script, timeoutSeconds, ...settings } = model;
  return {
    ...withoutName(settings),
    timeout: timeoutSeconds,
    script: script === null ? null : relative(dir, script),
  };
}

/** The name is the table's own. */
function withoutName(table: object): object {
  return Object.fromEntries(Object.entries(table).filter(([key]) => key !== "name"));
}

function mapped<T>(table: Readonly<Record<string, T>>, change: (value: T) => object): object {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value)]));
}

/** TOML has no null: what is not set is not there. */
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
