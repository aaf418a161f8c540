import { modelsOfRuns } from "../../../foundation/contracts/model-defaults.ts";
import type { AgentConfig, ModelConfig } from "../../../../streams/agent-config.ts";
import { harnesses } from "../../../../streams/harnesses.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { readScriptFile } from "../../../features/models/scripted.ts";
import { commandProblem } from "../../../runtime/runs/harness-command.ts";
import { unknownModels } from "../../../features/models/unknown-models.ts";
import { alCommand, finding, ofError, ok, type Check, type Finding } from "../finding.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";

/** Whether the models that agents name have their script, key or command line. */
export const models: Check = async (context) => {
  const agents = enabledAgents(context);
  const used = new Map(agents.flatMap((agent) => agent.models.map((one) => [one.name, one])));
  const ofModels = await Promise.all([...used.values()].map((one) => inspect(one, context)));
  const ofNames = await unknownOnes(agents, context);
  const ofCommands = await Promise.all(agents.map((agent) => checkCommandOf(agent, context)));
  return [...ofModels, ...ofNames, ...ofCommands.filter((found) => found !== null)];
};

/** Models that a harness calls and doesn't know; an external command line knows its own. */
async function unknownOnes(
  agents: readonly AgentConfig[],
  context: DoctorContext,
): Promise<readonly Finding[]> {
  const used = agents
    .filter(({ harness }) => harnesses[harness.type].callsModels)
    .flatMap((one) => one.models);
  const models = new Map(used.map((one) => [one.name, one]));
  return (await unknownModels(models.values())).map(({ name, problem: text, setting }) => {
    const fix = alCommand(context, `config --set ${shellWord(setting)}`);
    return finding("warning", text, `config.toml [models.${name}]`, fix);
  });
}

async function inspect(model: ModelConfig, context: DoctorContext): Promise<Finding> {
  const { name, provider } = model;
  try {
    await loadNeeds(model, context);
    return ok(`${name}: ${provider}${provider === "scripted" ? "" : ` ${model.model}`}`);
  } catch (error) {
    const users = enabledAgents(context).filter((agent) =>
      modelsOfRuns(agent).some((one) => one.name === name),
    );
    const stuck = await Promise.all(users.map((agent) => isStuck(agent, context)));
    const severity = stuck.includes(true) ? "error" : "warning";
    return ofError(error, severity, `config.toml [models.${name}]`);
  }
}

async function loadNeeds(
  { provider, authType, credential, script }: ModelConfig,
  { home }: DoctorContext,
): Promise<void> {
  if (script !== null && provider === "scripted") await readScriptFile(script);
  else if (authType !== "none") await loadCredential(home, credential);
}

/** Whether no model of the agent can be used; otherwise its runs take another one. */
async function isStuck(agent: AgentConfig, context: DoctorContext): Promise<boolean> {
  const tried = await Promise.allSettled(
    modelsOfRuns(agent).map((model) => loadNeeds(model, context)),
  );
  return tried.every(({ status }) => status === "rejected");
}

/** An agent in a container has its image's commands, which can't be checked from here. */
async function checkCommandOf(agent: AgentConfig, { env }: DoctorContext): Promise<Finding | null> {
  const problem = await commandProblem(agent, env);
  if (problem === null) return null;
  return finding(
    problem.isCertain ? "error" : "warning",
    `agent ${agent.name}: ${problem.reason}`,
    `agents/${agent.name}/config.toml [harness]`,
    problem.hint,
  );
}
