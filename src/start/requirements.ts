import type { AgentConfig, ModelConfig } from "../../streams/agent-config.ts";
import type { Problem } from "../../streams/vocabulary.ts";
import { loadCredential } from "../credentials/load-credential.ts";
import { reasonOf } from "../errors.ts";
import { readScriptFile } from "../models/script-file.ts";
import { commandProblem } from "./harness-command.ts";
import type { CommandProblem } from "./harness-command.ts";
import { modelsOfRuns, tryModel } from "./prepare-job.ts";
import type { ModelSources } from "./prepare-job.ts";
import { shortMemory } from "./short-memory.ts";

/** What runs need beside their agent's files. */
export interface RequirementSources extends ModelSources {
  readonly command: (agent: AgentConfig) => Promise<CommandProblem | null>;
}

/**
 * What the agent's runs need and do not have: an error stops them, a warning is about what they can do without. An
 * agent that its `scale` disables needs nothing.
 */
export async function unmetRequirements(
  agent: AgentConfig,
  sources: RequirementSources,
): Promise<readonly Problem[]> {
  if (agent.scale === 0) return [];
  const unmet = await Promise.all([
    unmetCredentials(agent, sources),
    unmetModels(agent, sources),
    unmetCommand(agent, sources),
  ]);
  return unmet.flat();
}

/** Begins a check of several agents, in which each credential and each script is read once. */
export function requirementLook(
  home: string,
  env: NodeJS.ProcessEnv,
): (agent: AgentConfig) => Promise<readonly Problem[]> {
  const once = <T>(read: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
    const memory = shortMemory(read, Infinity, Date.now);
    return (key) => memory.get(key);
  };
  const sources: RequirementSources = {
    credential: once((reference) => loadCredential(home, reference)),
    script: once(readScriptFile),
    command: (agent) => commandProblem(agent, env),
  };
  return (agent) => unmetRequirements(agent, sources);
}

async function unmetCredentials(
  { name, credentials }: AgentConfig,
  { credential }: RequirementSources,
): Promise<Problem[]> {
  const reasons = await Promise.all(
    credentials.map((reference) => credential(reference).then(() => null, reasonOf)),
  );
  return reasons.flatMap((reason) =>
    reason === null ? [] : [problem("error", ofAgent(name), reason)],
  );
}

async function unmetModels(agent: AgentConfig, sources: RequirementSources): Promise<Problem[]> {
  const tried = await Promise.all(
    modelsOfRuns(agent).map((model) => reasonOfModel(model, sources)),
  );
  const [usable] = tried.filter(({ reason }) => reason === null);
  return tried.flatMap(({ name, reason }, index) => {
    if (reason === null) return [];
    const model = `model ${JSON.stringify(name)} can't be used`;
    if (usable === undefined) return [problem("error", "config.toml", `${model}: ${reason}`)];
    const instead = index === 0 ? `, runs take ${JSON.stringify(usable.name)} instead` : "";
    return [problem("warning", "config.toml", `${model}${instead}: ${reason}`)];
  });
}

async function reasonOfModel(
  model: ModelConfig,
  sources: RequirementSources,
): Promise<{ readonly name: string; readonly reason: string | null }> {
  const tried = tryModel(model, sources);
  const reason = await tried.then(({ problem: why = null }) => why, reasonOf);
  return { name: model.name, reason };
}

async function unmetCommand(agent: AgentConfig, sources: RequirementSources): Promise<Problem[]> {
  const found = await sources.command(agent);
  if (found === null) return [];
  const severity = found.isCertain ? "error" : "warning";
  return [problem(severity, ofAgent(agent.name), `${found.reason}; ${found.hint}`)];
}

function ofAgent(name: string): string {
  return `agents/${name}/config.toml`;
}

function problem(severity: Problem["severity"], file: string, message: string): Problem {
  return { severity, file, line: null, column: null, message };
}
