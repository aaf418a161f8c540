import { defaultBudget } from "../../src/foundation/contracts/budget.ts";
import type { AgentConfig, MemoryConfig, ModelConfig } from "../../streams/agent-config.ts";
import type { Trigger, WorkItem } from "../../streams/vocabulary.ts";

/** The scripted model, without any key of its config. */
export function aModelConfig(config: Partial<ModelConfig> = {}): ModelConfig {
  return {
    name: "scripted",
    provider: "scripted",
    model: "scripted",
    authType: "none",
    thinkingLevel: null,
    baseUrl: null,
    api: null,
    contextWindow: null,
    maxTokens: null,
    input: null,
    headers: {},
    timeoutSeconds: null,
    maxRetries: null,
    price: null,
    requestsPerMinute: null,
    providerTools: [],
    extraFields: [],
    credential: "scripted_key",
    script: null,
    ...config,
  };
}

/** A valid agent config; what a test is about goes into `config`. */
export function anAgent(name: string, config: Partial<AgentConfig> = {}): AgentConfig {
  return {
    name,
    title: name,
    description: null,
    license: null,
    compatibility: null,
    instructions: "Do the work.",
    source: null,
    sourceCommit: null,
    models: [aModelConfig()],
    harness: { type: "pi", command: "claude" },
    credentials: [],
    githubApp: null,
    schedule: null,
    schedules: [],
    timezone: "UTC",
    tags: [],
    catchUp: "none",
    catchUpMost: 24,
    overlap: "skip",
    callable: false,
    scale: 1,
    concurrency: null,
    session: null,
    timeoutSeconds: 900,
    budget: defaultBudget,
    queueSize: 100,
    waitTimeoutSeconds: 1800,
    webhooks: [],
    debounce: null,
    hooks: { pre: [], post: [] },
    params: {},
    runtime: { type: "host-user", runAs: "$USER" },
    local: { memory: null, cpus: null, network: null, env: {} },
    network: null,
    approve: null,
    mcp: [],
    alert: { to: null, after: 1, remindMs: 86_400_000, noSuccessForMs: null },
    expect: null,
    memory: null,
    artifactsBytes: 50 * 1024 ** 2,
    workspace: null,
    heartbeat: null,
    dockerfileHash: null,
    ...config,
  };
}

/** The `[memory]` of an agent. */
export function aMemory(memory: Partial<MemoryConfig> = {}): MemoryConfig {
  const limits = { maxBytes: 1024 ** 2, maxFileBytes: 256 * 1024 };
  return { ...limits, schema: {}, shared: [], untrusted: "propose", trusted: [], ...memory };
}

/** A work item that arrived at the start of time. */
export function anItem(
  id: string,
  agent = "dev",
  trigger: Trigger = { kind: "manual", prompt: null },
): WorkItem {
  return { id, agent, at: 0, attempt: 1, trigger };
}
