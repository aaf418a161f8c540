import type { Api, Model } from "@earendil-works/pi-ai";
import type { ModelRuntime } from "@earendil-works/pi-coding-agent";
import type { ThinkingLevel } from "../../streams/vocabulary.ts";
import type { JobModel } from "../contracts/job.ts";
import type { StartScripted } from "./harness.ts";

/** A model of the job, ready to be used by pi. */
export interface PiModel {
  /** Its name in the project's config. */
  readonly name: string;
  readonly model: Model<Api>;
  readonly thinkingLevel: ThinkingLevel;
  /** False when nobody knows what a token costs. */
  readonly priced: boolean;
  /** Puts its key in force. Two models may share a provider and differ in the key. */
  activate(): Promise<void>;
}

export interface PiModels {
  /** In the job's order, without those that cannot be used. */
  readonly usable: readonly PiModel[];
  /** Why the others cannot, and what is odd about a usable one. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** What pi itself takes when nothing is said. */
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
  for (const [index, jobModel] of models.entries()) {
    if (jobModel.problem === undefined && jobModel.script !== null) {
      const endpoint = await startScripted(jobModel.script);
      closers.push(() => endpoint.close());
      const served = { ...jobModel, baseUrl: endpoint.baseUrl, key: endpoint.key };
      usable.push({ ...openAiCompatible(served, index, runtime), priced: true });
      continue;
    }
    const made = piModel(jobModel, index, runtime);
    if (typeof made === "string") problems.push(`model "${jobModel.name}": ${made}`);
    else usable.push(made);
  }
  const close = async () => {
    await Promise.allSettled(closers.map((stop) => stop()));
  };
  return { usable, problems, close };
}

/** The model, or why it cannot be used. */
function piModel(jobModel: JobModel, index: number, runtime: ModelRuntime): PiModel | string {
  const { provider, authType, key, baseUrl, problem } = jobModel;
  if (problem !== undefined) return problem;
  if (provider === "scripted") return "its script is missing";
  if (key === null && authType !== "none") return "its key is missing";
  if (provider !== "custom") return catalogued(jobModel, runtime);
  return baseUrl === null
    ? `provider "custom" needs a baseUrl`
    : openAiCompatible({ ...jobModel, baseUrl }, index, runtime);
}

/** A model of a provider that pi knows. One that is newer than pi's list takes after its sisters, but for the price. */
function catalogued(jobModel: JobModel, runtime: ModelRuntime): PiModel | string {
  const { provider, model: id, baseUrl } = jobModel;
  const listed = runtime.getModel(provider, id);
  const sister = listed ?? runtime.getModels(provider)[0];
  if (sister === undefined) return `provider "${provider}" is not known to the pi harness`;
  const model = { ...sister, id, name: listed?.name ?? id, baseUrl: baseUrl ?? sister.baseUrl };
  return described(jobModel, model, runtime, listed !== undefined);
}

/** Any server that speaks OpenAI's chat completions, under a provider name of its own. */
function openAiCompatible(
  jobModel: JobModel & { readonly baseUrl: string },
  index: number,
  runtime: ModelRuntime,
): PiModel {
  const provider = `${jobModel.provider}-${index + 1}`;
  const { baseUrl, model: id, thinkingLevel } = jobModel;
  runtime.registerProvider(provider, {
    baseUrl,
    api: "openai-completions",
    // A real key would be read as a pattern here ($NAME, !command); it is set literally by `activate`.
    apiKey: "placeholder",
    models: [
      {
        id,
        name: id,
        reasoning: thinkingLevel !== null && thinkingLevel !== "off",
        input: ["text"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 128_000,
        maxTokens: 8192,
        compat: {
          supportsStore: false,
          supportsDeveloperRole: false,
          maxTokensField: "max_tokens",
        },
      },
    ],
  });
  const model = runtime.getModel(provider, id);
  if (model === undefined) throw new Error(`pi did not take the model "${jobModel.name}"`);
  return described(jobModel, model, runtime, false);
}

function described(
  { name, key, thinkingLevel }: JobModel,
  model: Model<Api>,
  runtime: ModelRuntime,
  priced: boolean,
): PiModel {
  return {
    name,
    model,
    priced,
    thinkingLevel: thinkingLevel ?? defaultThinkingLevel,
    activate: () => runtime.setRuntimeApiKey(model.provider, key ?? "none"),
  };
}
