import { existsSync } from "node:fs";
import { join } from "node:path";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import {
  listAgents,
  readAgent,
  listSchemas,
  readSchemas,
  bareSkill,
  configCommand,
} from "../../../foundation/config/agent-files.ts";
import { resolveProject } from "../../../foundation/config/resolve-project.ts";
import { readProject } from "../../../foundation/config/read-project.ts";
import { Problem } from "../../../foundation/errors.ts";
import { replaceText } from "../../../foundation/files/replace-file.ts";
import { checkAgent, loadProject } from "../../../runtime/agents/project-files.ts";
import { filterTable } from "../../../features/webhooks/providers/table.ts";
import { unknownAgent } from "../operator/connect.ts";
import { unwritable } from "../write-files.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { agentKeys } from "../../../foundation/config/agent-keys.ts";
import { writtenAlert } from "../../../foundation/config/alert-options.ts";
import { writtenAlertTargets } from "../../../foundation/config/alert-targets.ts";
import { writtenBudget } from "../../../foundation/config/budget.ts";
import { writtenCluster } from "../../../foundation/config/cluster.ts";
import { writtenSize } from "../../../foundation/config/fields.ts";
import { writtenHeartbeat } from "../../../foundation/config/heartbeat.ts";
import { writtenKeys } from "../../../foundation/config/key-table.ts";
import { modelKeys } from "../../../foundation/config/model-keys.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";

/**
 * A `config.toml` that is looked at or changed, at an absolute path. `judge` has the problems of a text in its place, and the
 * active config with it: with all defaults and the keys of the file, null when it has errors.
 */
export type ConfigFile = Awaited<ReturnType<typeof openProject>>;

/** The project's `config.toml`, or with `agent` that of an agent. Throws a Problem if it is missing. */
export function openConfig(projectDir: string, agent: string | null): Promise<ConfigFile> {
  return agent === null ? openProject(projectDir) : openAgent(projectDir, agent);
}

async function openProject(projectDir: string) {
  const file = await readProject(projectDir);
  return {
    path: join(projectDir, "config.toml"),
    text: file.text,
    judge: (text: string) => {
      const change = resolveProject({ ...file, text }, filterTable);
      const { problems, project } =
        change.type === "invalid"
          ? { problems: change.problems, project: null }
          : { problems: change.warnings, project: change.project };
      return { problems, effective: project && projectTomlKeys(project, projectDir) };
    },
  };
}

async function openAgent(projectDir: string, name: string): Promise<ConfigFile> {
  const project = await loadProject(projectDir);
  const { names } = await listAgents(projectDir);
  const files = names.includes(name) ? await readAgent(projectDir, name) : null;
  if (files === null) {
    const known = namesOfAgents(projectDir, names);
    throw known.includes(name) ? noConfig(name) : unknownAgent(name, known);
  }
  const path = join(projectDir, "agents", name, "config.toml");
  if (files.config === null) {
    throw new Problem("unreadable_file", `${path} can't be read`, "Run `al doctor` to see why.");
  }
  const schemas = await readSchemas(projectDir, name, await listSchemas(projectDir, name));
  return {
    path,
    text: files.config,
    judge: (config) => {
      const agent = checkAgent({ ...files, config, schemas }, project);
      return {
        problems: agent.problems,
        effective: agent.config && agentTomlKeys(agent.config, projectDir),
      };
    },
  };
}

/** The error for a directory that has a SKILL.md and no `config.toml`. */
export function noConfig(name: string): Problem {
  const hint = `Create it with \`al ${configCommand(name)}\`.`;
  return new Problem("no_config", `agents/${name} ${bareSkill}`, hint);
}

/** The directories that al config can work with. */
function namesOfAgents(projectDir: string, names: readonly string[]): string[] {
  const hasOne = (name: string) =>
    ["config.toml", "SKILL.md"].some((file) => existsSync(join(projectDir, "agents", name, file)));
  return names.filter(hasOne);
}

/** Replaces the file's text and keeps its mode. Throws a Problem. */
export async function writeConfig({ path }: ConfigFile, text: string): Promise<void> {
  try {
    await replaceText(path, text);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The project's active config, with the keys that its file has. Unset keys are left out. */
export function projectTomlKeys(project: ProjectConfig, projectDir: string): object {
  const { models, local, webhooks, budget, cluster, calendars, alerts, alert, ...rest } = project;
  const { heartbeat, artifactsBytes, ...more } = rest;
  const { defaultWaitTimeoutSeconds, resourceLockTimeoutSeconds, ...same } = more;
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
    calendars: mapped(calendars, ({ written }) => written),
    alerts: writtenAlertTargets(alerts),
    alert: writtenAlert(alert),
    heartbeat: writtenHeartbeat(heartbeat),
    artifacts: { maxBytes: writtenSize(artifactsBytes) },
  });
}

/** An agent's active config, with the keys that its file has; the content of its SKILL.md is not among them. */
function agentTomlKeys(agent: AgentConfig, projectDir: string): object {
  return withoutNulls(writtenKeys(agentKeys, agent, projectDir));
}

/** `key = value` lines of TOML, tables as dotted keys. */
export function tomlLines(table: object, prefix = ""): string[] {
  return Object.entries(table).flatMap(([key, value]: [string, unknown]) => {
    const path = `${prefix}${tomlKey(key)}`;
    return isPlainObject(value) ? tomlLines(value, `${path}.`) : [`${path} = ${tomlValue(value)}`];
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
    .map(([key, value]: [string, unknown]) => [
      key,
      isPlainObject(value) ? withoutNulls(value) : value,
    ]);
  return Object.fromEntries(entries) as object;
}

function tomlKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (!isPlainObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, one]) => `${tomlKey(key)} = ${tomlValue(one)}`);
  return `{ ${pairs.join(", ")} }`;
}
