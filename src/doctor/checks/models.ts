import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { AgentConfig, ModelConfig } from "../../../streams/vocabulary.ts";
import { loadCredential } from "../../credentials/load-credential.ts";
import { readScriptFile } from "../../models/script-file.ts";
import type { Check, Finding } from "../finding.ts";
import { ok } from "../finding.ts";
import { enabledAgents } from "../patient.ts";
import type { Patient } from "../patient.ts";
import { ofError } from "../say.ts";

/** Whether the models that agents name have what they need: a script, a key, a command line. */
export const models: Check = {
  name: "models",
  look: async (patient) => {
    const agents = enabledAgents(patient);
    const used = new Map(agents.flatMap((agent) => agent.models.map((one) => [one.name, one])));
    const ofModels = await Promise.all([...used.values()].map((one) => look(one, patient)));
    const ofCommands = await Promise.all(agents.map((agent) => lookForCommand(agent, patient)));
    return [...ofModels, ...ofCommands.filter((found) => found !== null)];
  },
};

async function look(model: ModelConfig, patient: Patient): Promise<Finding> {
  const { name, provider, authType, credential, script } = model;
  try {
    if (script !== null && provider === "scripted") await readScriptFile(script);
    else if (authType !== "none") await loadCredential(patient.home, credential);
    return ok(`${name}: ${provider}${provider === "scripted" ? "" : ` ${model.model}`}`);
  } catch (error) {
    // Without a fallback's key the run goes on with the others.
    const isFirst = enabledAgents(patient).some((agent) => agent.models[0]?.name === name);
    return ofError(error, isFirst ? "error" : "warning", `config.toml [models.${name}]`);
  }
}

/** An agent in a container has its image's commands, which can't be seen from here. */
async function lookForCommand(agent: AgentConfig, { env }: Patient): Promise<Finding | null> {
  const { harness, name, runtime } = agent;
  if (harness.type !== "llm-cli" || runtime.type === "container") return null;
  const { command } = harness;
  const places = command.includes("/")
    ? [command]
    : (env.PATH ?? "").split(delimiter).map((dir) => join(dir, command));
  const found = await Promise.all(places.map(isExecutable));
  if (found.includes(true)) return null;
  return {
    severity: "error",
    what: `the harness of agent ${name} runs ${command}, which is not there`,
    where: `agents/${name}/config.toml [harness]`,
    fix: `install ${command}, or name another one: al config ${name} --set harness.command=<path>`,
  };
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
