import { createSpend } from "../../features/spend/spend-store.ts";
import { harnesses } from "../../../streams/harnesses.ts";
import type { AgentConfig, ModelApi, ModelConfig } from "../../../streams/agent-config.ts";
import type { Script } from "../../foundation/contracts/job.ts";
import type { Meter, UpstreamModel } from "../../foundation/contracts/model-gateway.ts";
import {
  apiBaseUrl,
  modelDefaults,
  modelsOfRuns,
  plainApi,
} from "../../foundation/contracts/model-defaults.ts";
import { messageOf, reasonOf, Problem } from "../../foundation/errors.ts";
import { cliFor } from "../harness/llm-cli/clis.ts";
import type { Credential } from "../../foundation/credentials/load-credential.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { readScriptFile } from "../../features/models/scripted.ts";
import { listedApi } from "../../features/models/listed-models.ts";
import { answerScript } from "../../features/models/scripted-answer.ts";
import { createModelGateway } from "../run-api/model-gateway/model-gateway.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { Refusal, RefusedKeys } from "./refused-keys.ts";
import { noteRefusals } from "./run-meter.ts";

/** Loads credentials and scripts of models. Both reject with a Problem that names the missing item and a fix. */
export interface ModelSources {
  /** `type` or `type:instance`; the secrets are known to the redactor before this resolves. */
  readonly credential: (reference: string) => Promise<Credential>;
  /** Absolute path of a script file. */
  readonly script: (path: string) => Promise<Script>;
  readonly refusalOf?: RefusedKeys["refusalOf"];
}

/** The gateway from runs to the models of their agents, with the currently stored keys. */
export function createModelCalls(
  context: SchedulerContext,
  runs: LiveRuns,
  meter: Meter,
  refusedKeys: RefusedKeys,
) {
  const { credential, warn } = context;
  const sources = { credential, script: readScriptFile };
  return createModelGateway({
    model: (instanceId, name) => {
      const { agent } = runs.get(instanceId).request;
      const found = modelOf(agent, name);
      if (found !== undefined) return upstreamModel(found, agent, sources);
      const detail = `the config of agent ${agent.name} has no model ${JSON.stringify(name)}`;
      return Promise.reject(new Problem("unknown_model", detail));
    },
    agentOf: (instanceId) => runs.get(instanceId).agent,
    isEnding: (instanceId) => runs.find(instanceId)?.isEnding ?? false,
    meter: noteRefusals(context.store.tables(createSpend), context, runs, meter),
    answerScript,
    onCall: (instanceId, call, verdict) => runs.find(instanceId)?.addModelCall(call, verdict),
    onRefused: (instanceId, { name, key }, { status, failure }) => {
      const run = runs.find(instanceId);
      const model = run && modelOf(run.request.agent, name);
      if (run === undefined || model === undefined || key === null) return;
      run.isKeyRefused = refusedKeys.take(model, key, status, failure);
    },
    onProblem: ({ instanceId, model, error }) =>
      warn(`${instanceId}: model ${JSON.stringify(model)}: ${messageOf(error)}`),
  });
}

function modelOf(agent: AgentConfig, name: string): ModelConfig | undefined {
  return modelsOfRuns(agent).find((model) => model.name === name);
}

/** The model as the gateway calls it for the agent's runs. Rejects with a Problem if its key or script is missing. */
async function upstreamModel(
  model: ModelConfig,
  { harness }: AgentConfig,
  sources: ModelSources,
): Promise<UpstreamModel> {
  const { name, provider, authType, headers, baseUrl } = model;
  const { providerTools, extraFields, timeoutSeconds } = model;
  const api = harnesses[harness.type].startsCommand
    ? (cliFor(harness.command).api ?? plainApi(model))
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

/** The wire format that the pi harness uses for the model. */
async function apiOf({ provider, model, api }: ModelConfig): Promise<ModelApi> {
  return api ?? (await listedApi(provider, model)) ?? modelDefaults(provider, model).api;
}

async function secretsOfModel(
  { provider, authType, credential, script }: ModelConfig,
  sources: ModelSources,
) {
  const needsKey = authType !== "none" && provider !== "scripted";
  return {
    key: needsKey ? keyOf(await sources.credential(credential)) : null,
    script: script === null ? null : await sources.script(script),
  };
}

/** A problem of a model. */
export interface ModelProblem extends Refusal {
  /** Whether its provider said so: each run that uses it meets the same. */
  readonly isRefusal: boolean;
}

/** Why the model can't be used; null if it can. */
export async function modelProblem(
  model: ModelConfig,
  sources: ModelSources,
): Promise<ModelProblem | null> {
  try {
    const { key } = await secretsOfModel(model, sources);
    const refusal = key === null ? null : sources.refusalOf?.(model, key);
    return refusal ? { ...refusal, isRefusal: true } : null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { reason: reasonOf(error), isPassing: false, isRefusal: false };
  }
}

/** A model's credential has one field, under any name: the key. */
function keyOf({ fields }: Credential): string | null {
  return fields.key ?? fields.token ?? Object.values(fields)[0] ?? null;
}
