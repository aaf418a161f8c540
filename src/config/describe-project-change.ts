import { both, changed, differingKeys, sayDifferences } from "./differences.ts";
import type { Say } from "./differences.ts";
import type { ProjectConfig } from "./project-config.ts";

const projectKeys: { readonly [Key in keyof ProjectConfig]: Say<ProjectConfig> } = {
  models: sayTables("models"),
  harness: changed("[harness]"),
  local: sayKeys("local"),
  gateway: sayKeys("gateway"),
  webhooks: sayTables("webhooks"),
  workQueueSize: both("workQueueSize", (project) => project.workQueueSize),
  defaultWaitTimeoutSeconds: both(
    "defaultWaitTimeout",
    (project) => project.defaultWaitTimeoutSeconds,
  ),
  resourceLockTimeoutSeconds: both(
    "resourceLockTimeout",
    (project) => project.resourceLockTimeoutSeconds,
  ),
  maxReruns: both("maxReruns", (project) => project.maxReruns),
  maxCallDepth: both("maxCallDepth", (project) => project.maxCallDepth),
  scale: both("scale", (project) => project.scale),
  historyRetentionDays: both("historyRetentionDays", (project) => project.historyRetentionDays),
  historyMaxBytes: both("historyMaxBytes", (project) => project.historyMaxBytes),
  timezone: both("timezone", (project) => project.timezone),
};

interface ProjectDifference {
  /** In one line; empty when nothing differs. */
  readonly text: string;
  /** True for the gateway: once it listens on TCP, its changes take effect with the next start. */
  readonly needsRestart: boolean;
}

/** What differs between two configs of the project. */
export function describeProjectChange(
  before: ProjectConfig,
  after: ProjectConfig,
): ProjectDifference {
  const text = sayDifferences(projectKeys, before, after);
  const needsRestart = differingKeys(before.gateway, after.gateway).length > 0;
  return { text, needsRestart };
}

function sayKeys(table: "local" | "gateway"): Say<ProjectConfig> {
  return (before, after) =>
    differingKeys(before[table], after[table])
      .map((key) => {
        const value = (config: ProjectConfig): unknown =>
          Object.entries(config[table]).find(([name]) => name === key)?.[1];
        return both(`${table}.${key.replace(/Seconds$/, "")}`, value)(before, after);
      })
      .join(", ");
}

function sayTables(section: "models" | "webhooks"): Say<ProjectConfig> {
  return (before, after) =>
    differingKeys(before[section], after[section])
      .map((name) => {
        const isNew = !Object.hasOwn(before[section], name);
        const isGone = !Object.hasOwn(after[section], name);
        return `[${section}.${name}] ${isNew ? "added" : isGone ? "removed" : "changed"}`;
      })
      .join(", ");
}
