import { harnesses } from "../../streams/harnesses.ts";
import type { AgentConfig, ModelApi, ModelConfig } from "../../streams/agent-config.ts";
import { apiBaseUrl } from "../foundation/contracts/base-url.ts";
import type { Script } from "../foundation/contracts/job.ts";
import type { Meter, UpstreamModel } from "../foundation/contracts/model-gateway.ts";
import type { SpendStore } from "../foundation/contracts/spend.ts";
import { modelDefaults, modelsOfRuns } from "../foundation/contracts/model-defaults.ts";
import { messageOf, reasonOf, UserError } from "../foundation/errors.ts";
import { cliFor } from "../runtime/harness/llm-cli/clis.ts";
import { secretsOf } from "../foundation/credentials/credential-types.ts";
import { loadCredential } from "../foundation/credentials/load-credential.ts";
import { readScriptFile } from "../features/models/script-file.ts";
import { listedApi } from "../features/models/listed-models.ts";
import { answerScript } from "../features/models/scripted-answer.ts";
import { createModelGateway } from "../runtime/run-api/model-gateway/model-gateway.ts";
import type { ModelGateway } from "../runtime/run-api/model-gateway/model-gateway.ts";
import type { LiveRuns } from "../runtime/runs/live-runs.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import { noteRefusals } from "./run-meter.ts";

/** What models need. Both reject with a UserError that says what is missing and what to do. */
export interface ModelSources {
  /** `type` or `type:instance`; the secrets are known to the redactor before this resolves. */
  readonly credential: (reference: string) => Promise<LoadedCredential>;
  /** Absolute path of a script file. */
  readonly script: (path: string) => Promise<Script>;
}

export interface LoadedCredential {
  readonly type: string;
  readonly instance: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface ModelCallsDeps {
  readonly runs: Pick<LiveRuns, "get" | "find">;
  readonly sources: ModelSources;
  readonly meter: Meter;
  readonly store: Pick<SpendStore, "recordRefusal">;
  readonly warn: (message: string) => void;
}

/** The way of runs to the models of their agents, with the keys as they are stored now. */
export function createModelCalls(deps: ModelCallsDeps): ModelGateway {
  const { runs, sources, meter, store, warn } = deps;
  return createModelGateway({
    model: (instanceId, name) => {
      const { agent } = runs.get(instanceId).request;
      const found = modelsOfRuns(agent).find((model) => model.name === name);
      if (found !== undefined) return upstreamModel(found, agent, sources);
      const detail = `the config of agent ${agent.name} has no model ${JSON.stringify(name)}`;
      return Promise.reject(new UserError("unknown_model", detail));
    },
    agentOf: (instanceId) => runs.get(instanceId).agent,
    meter: noteRefusals({ meter, runs, store, warn }),
    answerScript,
    onProblem: ({ instanceId, model, error }) =>
      warn(`${instanceId}: model ${JSON.stringify(model)}: ${messageOf(error)}`),
  });
}

/** The model as the gateway asks it for a run of the agent. Rejects with a UserError when its key or script is missing. */
async function upstreamModel(
  model: ModelConfig,
  { harness }: Pick<AgentConfig, "harness">,
  sources: ModelSources,
): Promise<UpstreamModel> {
  const { name, provider, authType, headers, baseUrl } = model;
  const { providerTools, extraFields, timeoutSeconds } = model;
  const api = harnesses[harness.type].startsCommand
    ? cliFor(harness.command).api
    : await apiOf(model);
  return {
    ...(await secretsOfModel(model, sources)),
    name,
    provider,
    model: model.model,
    api,
    baseUrl: apiBaseUrl(baseUrl, { provider, api }),
    authType,
    headers,
    providerTools,
    extraFields,
    timeoutSeconds,
  };
}

/** The wire format that the pi harness takes for the model. */
async function apiOf({ provider, model, api }: ModelConfig): Promise<ModelApi> {
  return api ?? (await listedApi(provider, model)) ?? modelDefaults(provider, model).api;
}

async function secretsOfModel(
  { provider, authType, credential, script }: ModelConfig,
  sources: ModelSources,
): Promise<Pick<UpstreamModel, "key" | "script">> {
  const needsKey = authType !== "none" && provider !== "scripted";
  return {
    key: needsKey ? keyOf(await sources.credential(credential)) : null,
    script: script === null ? null : await sources.script(script),
  };
}

/** Why the model can't be used; null when it can. */
export async function modelProblem(
  model: ModelConfig,
  sources: ModelSources,
): Promise<string | null> {
  try {
    await secretsOfModel(model, sources);
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return reasonOf(error);
  }
}

/** A model's credential has one field; whatever it is called, it is the key. */
function keyOf({ fields }: LoadedCredential): string | null {
  return fields.key ?? fields.token ?? Object.values(fields)[0] ?? null;
}

/** Where keys and scripts are stored; secrets are known to the redactor before they are used. */
export function modelSources({
  home,
  redactor,
}: Pick<ProjectHandle, "home" | "redactor">): ModelSources {
  return {
    credential: async (reference) => {
      const credential = await loadCredential(home, reference);
      redactor.add(secretsOf(credential));
      return credential;
    },
    script: readScriptFile,
  };
}
