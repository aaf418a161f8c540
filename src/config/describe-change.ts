import type { AgentConfig } from "../../streams/agent-config.ts";
import { both, changed, isEqual, sayDifferences } from "./differences.ts";
import type { Say } from "./differences.ts";
import { formatNames } from "./format-value.ts";

/** Keys as the files have them; each key of the config must be here. */
const agentKeys: { readonly [Key in Exclude<keyof AgentConfig, "name">]: Say<AgentConfig> } = {
  title: both("name", ({ title }) => title),
  description: changed("description"),
  license: both("license", ({ license }) => license),
  compatibility: both("compatibility", ({ compatibility }) => compatibility),
  instructions: changed("SKILL.md"),
  source: both("source", ({ source }) => source),
  sourceCommit: both("sourceCommit", ({ sourceCommit }) => sourceCommit),
  models: sayModels,
  harness: sayHarness,
  credentials: both("credentials", ({ credentials }) => credentials),
  schedule: both("schedule", ({ schedule }) => schedule),
  timezone: both("timezone", ({ timezone }) => timezone),
  catchUp: both("catchUp", ({ catchUp }) => catchUp),
  callable: both("callable", ({ callable }) => callable),
  scale: both("scale", ({ scale }) => scale),
  timeoutSeconds: both("timeout", ({ timeoutSeconds }) => timeoutSeconds),
  queueSize: both("maxWorkQueueSize", ({ queueSize }) => queueSize),
  waitTimeoutSeconds: both("waitTimeout", ({ waitTimeoutSeconds }) => waitTimeoutSeconds),
  webhooks: changed("webhooks"),
  hooks: changed("hooks"),
  params: changed("params"),
  runtime: sayRuntime,
  local: sayLocal,
  dockerfileHash: changed("files of its image"),
};

/** What differs, in one line: `schedule "0 9 * * *" → "0 8 * * *", scale 1 → 2`. Empty when nothing does. */
export function describeChange(before: AgentConfig, after: AgentConfig): string {
  return sayDifferences(agentKeys, before, after);
}

function sayModels(before: AgentConfig, after: AgentConfig): string {
  const names = ({ models }: AgentConfig): string[] => models.map(({ name }) => name);
  if (!isEqual(names(before), names(after))) return both("models", names)(before, after);
  const differing = after.models.filter((model, index) => !isEqual(model, before.models[index]));
  return `settings of model ${formatNames(differing.map(({ name }) => name))} changed`;
}

function sayHarness(before: AgentConfig, after: AgentConfig): string {
  const key = before.harness.type === after.harness.type ? "command" : "type";
  return both<AgentConfig>(`harness.${key}`, ({ harness }) => harness[key])(before, after);
}

function sayRuntime(before: AgentConfig, after: AgentConfig): string {
  if (before.runtime.type === after.runtime.type) {
    return both<AgentConfig>("runtime.run_as", ({ runtime }) => runtime.runAs)(before, after);
  }
  return both<AgentConfig>("runtime.type", ({ runtime }) => runtime.type)(before, after);
}

type Local = AgentConfig["local"];

/** Values of variables may be long. */
const localKeys: { readonly [Key in keyof Local]: Say<Local> } = {
  memory: both("local.memory", ({ memory }) => memory),
  cpus: both("local.cpus", ({ cpus }) => cpus),
  network: both("local.network", ({ network }) => network),
  env: changed("local.env"),
};

function sayLocal(before: AgentConfig, after: AgentConfig): string {
  return sayDifferences(localKeys, before.local, after.local);
}
