import type { Api, Model, ModelAuth } from "@earendil-works/pi-ai";
import type { ModelRuntime } from "@earendil-works/pi-coding-agent";
import type { ThinkingLevel } from "../../../../streams/agent-config.ts";
import type { JobModel } from "../../../foundation/contracts/job.ts";
import type { ModelEndpoint } from "../harness.ts";
import { oauthMark } from "../../../foundation/contracts/model-address.ts";
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
}

/** pi's own default. */
const defaultThinkingLevel: ThinkingLevel = "medium";

/** Makes the job's models known to pi, at the addresses of the endpoint. */
export async function preparePiModels(
  models: readonly JobModel[],
  runtime: ModelRuntime,
  endpoint: ModelEndpoint,
): Promise<PiModels> {
  const usable: PiModel[] = [];
  const problems: string[] = [];
  const pi = { runtime, endpoint, authenticate: piAuthenticator(runtime) };
  for (const [index, jobModel] of models.entries()) {
    const problem = jobModel.problem ?? problemOf(jobModel);
    if (problem === null) usable.push(piModel(jobModel, index, pi));
    else problems.push(`model "${jobModel.name}": ${problem}`);
  }
  // pi changes to a model only once it has seen that its provider is authenticated.
  await runtime.refresh({ allowNetwork: false });
  return { usable, problems };
}

/** Why the model cannot be used; null when it can. */
function problemOf({ provider, baseUrl }: JobModel): string | null {
  return provider === "custom" && baseUrl === null ? `provider "custom" needs a baseUrl` : null;
}

interface Pi {
  readonly runtime: ModelRuntime;
  readonly endpoint: ModelEndpoint;
  readonly authenticate: ReturnType<typeof piAuthenticator>;
}

function piModel(jobModel: JobModel, index: number, pi: Pi): PiModel {
  const { runtime, endpoint, authenticate } = pi;
  const { name, thinkingLevel } = jobModel;
  const provider = piProvider(jobModel, index);
  const listed = runtime.getModel(provider, jobModel.model);
  const shape = modelShape(jobModel, provider, listed);
  const model = { ...shape, baseUrl: endpoint.baseUrl(jobModel, shape.baseUrl) };
  const auth = modelAuth(jobModel, endpoint.key);
  authenticate(provider, auth);
  return {
    name,
    model,
    priced: isPriced(jobModel) || listed !== undefined,
    thinkingLevel: thinkingLevel ?? defaultThinkingLevel,
    activate: () => authenticate(provider, auth),
  };
}

/** A model that the config gives no price is priced when pi lists it. The scripted one costs nothing. */
function isPriced({ provider, price }: JobModel): boolean {
  return provider === "scripted" || (price ?? null) !== null;
}

/**
 * How a session's requests show that they are its own: by the endpoint's key, whose mark has pi ask Anthropic as
 * OAuth tokens need it. Others who speak Anthropic's API want the token alone.
 */
function modelAuth({ provider, authType }: JobModel, key: string): ModelAuth {
  const isSubscription = provider === "anthropic" && authType === "oauth_token";
  return { apiKey: isSubscription ? `${oauthMark}${key}` : key };
}
