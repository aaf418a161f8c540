import { basename } from "node:path";
import type { ModelApi } from "../../../streams/agent-config.ts";
import type { Job, JobMemory, Script } from "../../../src/foundation/contracts/job.ts";
import { aModelConfig } from "../../helpers/agents.ts";
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

/** A memory of a job. */
export function aJobMemory(memory: Partial<JobMemory> = {}): JobMemory {
  const limits = { maxBytes: 1024 ** 2, maxFileBytes: 256 * 1024 };
  const none = { conflicts: [], notKept: null, schemas: [] };
  return { tree: "memory", isReadOnly: false, ...limits, bytes: 0, ...none, ...memory };
}

/** A failure that the script plays comes at once: it is not retried. */
export function aScripted(turns: Script["turns"], name = "scripted"): HostedModel {
  return { ...aModelConfig({ name, maxRetries: 0 }), key: null, script: { turns } };
}

/** A model of a provider on this machine. */
export function aModel(
  name: string,
  baseUrl: string,
  model: Partial<HostedModel> = {},
): HostedModel {
  const config = aModelConfig({ name, provider: "custom", model: `${name}-1`, baseUrl });
  return { ...config, authType: "api_key", key: `key-of-${name}`, script: null, ...model };
}

/** The run whose session a job continues. */
export function aContinued(of: Partial<NonNullable<Job["continues"]>> = {}): Job["continues"] {
  const endedAt = new Date(Date.now() - 3 * 3_600_000).toISOString();
  const none = { model: null, key: null, lost: null };
  return { instanceId: "dev-earlier1", endedAt, outcome: "succeeded", ...none, ...of };
}

/** The trees of a job whose session is kept. */
export const sessionTrees: NonNullable<Job["trees"]> = [
  {
    name: "session",
    path: ".session",
    get: false,
    put: true,
    limits: { bytes: 1e6, fileBytes: 1e6, entries: 9, depth: 9, nameBytes: 99 },
  },
];
