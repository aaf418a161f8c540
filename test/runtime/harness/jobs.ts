import { basename } from "node:path";
import type { ModelApi } from "../../../streams/agent-config.ts";
import type { Job, Script } from "../../../src/foundation/contracts/job.ts";
import { hostModels, jobModels, type HostedModel } from "./model-host.ts";

export interface JobOptions extends Partial<Omit<Job, "models">> {
  /** They answer in this process, through the gateway. */
  readonly models?: readonly HostedModel[];
}

/** What the command lines of the llm-cli harness speak. */
const clis: Readonly<Record<string, ModelApi>> = {
  claude: "anthropic-messages",
  codex: "openai-responses",
  gemini: "google-generative-ai",
};

/** A job that can run; what a test is about goes into `job`. */
export function aJob(workDir: string, job: JobOptions = {}): Job {
  const { models = [aScripted([{ text: "Done." }])], harness, ...rest } = job;
  const api = harness?.type === "llm-cli" ? (clis[basename(harness.command)] ?? null) : null;
  return {
    instanceId: "dev-abcdefgh",
    agent: "dev",
    title: "Dev",
    instructions: "Do the work.",
    harness: harness ?? { type: "pi", command: "claude" },
    models: jobModels(models),
    params: {},
    credentials: [],
    hooks: { pre: [], post: [] },
    timeoutSeconds: 60,
    trigger: { kind: "manual", prompt: null },
    payload: null,
    workDir,
    channel: hostModels(job.instanceId ?? "dev-abcdefgh", models, api),
    ...rest,
  };
}

/** A failure that the script plays comes at once: it is not retried. */
export function aScripted(turns: Script["turns"], name = "scripted"): HostedModel {
  return aModel(name, "", {
    provider: "scripted",
    model: "scripted",
    authType: "none",
    baseUrl: null,
    key: null,
    script: { turns },
    maxRetries: 0,
  });
}

/** A model of a provider on this machine. */
export function aModel(
  name: string,
  baseUrl: string,
  model: Partial<HostedModel> = {},
): HostedModel {
  return {
    name,
    provider: "custom",
    model: `${name}-1`,
    authType: "api_key",
    thinkingLevel: null,
    baseUrl,
    api: null,
    contextWindow: null,
    maxTokens: null,
    input: null,
    headers: {},
    timeoutSeconds: null,
    maxRetries: null,
    price: null,
    key: `key-of-${name}`,
    script: null,
    ...model,
  };
}
