import type { Job, JobModel, Script } from "../../src/contracts/job.ts";

/** A job that can run; what a test is about goes into `job`. */
export function aJob(workDir: string, job: Partial<Job> = {}): Job {
  return {
    instanceId: "dev-abcdefgh",
    agent: "dev",
    title: "Dev",
    instructions: "Do the work.",
    harness: { type: "pi", command: "claude" },
    models: [aScripted([{ text: "Done." }])],
    params: {},
    credentials: [],
    hooks: { pre: [], post: [] },
    timeoutSeconds: 60,
    trigger: { kind: "manual", prompt: null },
    payload: null,
    workDir,
    channel: null,
    ...job,
  };
}

/** A failure that the script plays comes at once: it is not retried. */
export function aScripted(turns: Script["turns"], name = "scripted"): JobModel {
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
export function aModel(name: string, baseUrl: string, model: Partial<JobModel> = {}): JobModel {
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
    headers: {},
    timeoutSeconds: null,
    maxRetries: null,
    key: `key-of-${name}`,
    script: null,
    ...model,
  };
}
