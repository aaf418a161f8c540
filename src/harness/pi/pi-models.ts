import type { Api, Model, ModelAuth } from "@earendil-works/pi-ai";
import type { ModelRuntime } from "@earendil-works/pi-coding-agent";
import type { ThinkingLevel, ModelApi } from "../../../streams/agent-config.ts";
import type { JobModel } from "../../contracts/job.ts";
import type { StartScripted } from "../harness.ts";
import { modelShape } from "./model-shape.ts";
import { piAuthenticator, piProvider } from "./pi-providers.ts";

/** A model of the job, ready to be used by pi. */
export interface PiModel {
  /** Its name in the project's config. */
  readonly name: string;
  readonly model: Model<Api>;
  readonly thinkingLevel: ThinkingLevel;
  /** False when the cost of a token is unknown. */
  readonly priced: boolean;
  /** Makes its key the active one. Two models may share a provider and differ in the key. */
  activate(): void;
}

interface PiModels {
  /** In the job's order, without those that cannot be used. */
  readonly usable: readonly PiModel[];
  /** Why the others cannot, and what is odd about a usable one. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** pi's own default. */
const defaultThinkingLevel: ThinkingLevel = "medium";

/** Makes the job's models known to pi and starts the endpoints of the scripted ones. */
export async function preparePiModels(
  models: readonly JobModel[],
  runtime: ModelRuntime,
  startScripted: StartScripted,
): Promise<PiModels> {
  const usable: PiModel[] = [];
  const problems: string[] = [];
  const closers: (() => Promise<void>)[] = [];
  const pi = { runtime, authenticate: piAuthenticator(runtime) };
  for (const [index, jobModel] of models.entries()) {
    const problem = jobModel.problem ?? problemOf(jobModel);
    if (problem !== null) {
      problems.push(`model "${jobModel.name}": ${problem}`);
    } else if (jobModel.script === null) {
      usable.push(piModel(jobModel, index, pi));
    } else {
      const endpoint = await startScripted(jobModel.script);
      closers.push(() => endpoint.close());
      const { baseUrl, key } = endpoint;
      const served = { ...jobModel, baseUrl, key, authType: "api_key" } as const;
      usable.push({ ...piModel(served, index, pi), priced: true });
    }
  }
  // pi changes to a model only once it has seen that its provider is authenticated.
  await runtime.refresh({ allowNetwork: false });
  const close = async () => {
    await Promise.allSettled(closers.map((stop) => stop()));
  };
  return { usable, problems, close };
}

/** Why the model cannot be used; null when it can. */
function problemOf({ provider, script, authType, key, baseUrl }: JobModel): string | null {
  if (provider === "scripted") return script === null ? "its script is missing" : null;
  if (key === null && authType !== "none") return "its key is missing";
  return provider === "custom" && baseUrl === null ? `provider "custom" needs a baseUrl` : null;
}

interface Pi {
  readonly runtime: ModelRuntime;
  readonly authenticate: ReturnType<typeof piAuthenticator>;
}

function piModel(jobModel: JobModel, index: number, { runtime, authenticate }: Pi): PiModel {
  const { name, thinkingLevel } = jobModel;
  const provider = piProvider(jobModel, index);
  const listed = runtime.getModel(provider, jobModel.model);
  const model = modelShape(jobModel, provider, listed);
  const auth = modelAuth(jobModel, model.api);
  authenticate(provider, auth);
  return {
    name,
    model,
    priced: listed !== undefined,
    thinkingLevel: thinkingLevel ?? defaultThinkingLevel,
    activate: () => authenticate(provider, auth),
  };
}

/** By this in a key pi decides that a request to Anthropic is made as OAuth tokens need it. */
const oauthMark = "sk-ant-oat";

/** How a request proves who it is from. The config's `authType` decides, whatever the key looks like. */
function modelAuth({ provider, authType, key }: JobModel, api: ModelApi): ModelAuth {
  const isAnthropic = api === "anthropic-messages";
  if (authType === "none" || key === null) {
    return { apiKey: "none", headers: { authorization: null, "x-api-key": null } };
  }
  if (!isAnthropic) return { apiKey: key };
  if (authType === "api_key") {
    return key.includes(oauthMark)
      ? { apiKey: "in the header", headers: { "x-api-key": key } }
      : { apiKey: key };
  }
  const headers = { Authorization: `Bearer ${key}` };
  // Others who speak Anthropic's API want the token alone.
  return provider === "anthropic" ? { apiKey: oauthMark, headers } : { headers };
}
