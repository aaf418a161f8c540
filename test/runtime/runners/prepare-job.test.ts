import type { AgentConfig, ModelConfig } from "../../../streams/agent-config.ts";
import { stageCredentials } from "../../../src/foundation/credentials/stage-credentials.ts";
import { UserError } from "../../../src/foundation/errors.ts";
import { prepareJob } from "../../../src/runtime/runners/prepare-job.ts";
import { aModelConfig, anAgent, anItem } from "../../helpers/agents.ts";

const model = (name: string, config: Partial<ModelConfig> = {}): ModelConfig =>
  aModelConfig({
    name,
    provider: "openai",
    model: `${name}-1`,
    authType: "api_key",
    credential: `${name}_key`,
    ...config,
  });

/** A job from these credentials, each with one field; models in the order of their names, backwards. */
function prepare(config: Partial<AgentConfig>, stored: readonly string[]) {
  const agent = anAgent("dev", config);
  const request = { instanceId: "dev-abcdefgh", agent, item: anItem("1") };
  return prepareJob(request, "/w", {
    credential: async (type) => {
      await Promise.resolve();
      if (stored.includes(type)) return { type, instance: "default", fields: { key: `k-${type}` } };
      const hint = `write the secret to /home/${type}/default/key`;
      throw new UserError("missing_credential", `credential ${type} is missing`, { hint });
    },
    checkCommand: () => Promise.resolve(),
    broker: (_request, credentials) => Promise.resolve({ credentials, authority: null }),
    stage: stageCredentials,
    files: () => Promise.resolve([]),
    network: () => Promise.resolve(undefined),
    script: () => Promise.reject(new UserError("script_invalid", "no such script")),
    payload: () => null,
    traceparent: () => undefined,
    orderModels: (models) => models.toSorted((a, b) => b.name.localeCompare(a.name)),
    channel: () => Promise.resolve(null),
  });
}

const chain = [model("a"), model("b"), model("c")];

test("the job of a run has its models in order, without keys or headers", async () => {
  const headers = { "x-team": "secret-of-a" };
  const models = [model("a", { headers }), model("b"), model("c")];
  const job = await prepare({ models }, ["a_key", "b_key", "c_key"]);
  expect(job.models.map(({ name }) => name)).toEqual(["c", "b", "a"]);
  expect(JSON.stringify(job)).not.toMatch(/k-[abc]_key|secret-of-a/);
});

test("the job of a run carries each model's own limits and wire", async () => {
  const settings = {
    api: "openai-completions",
    contextWindow: 64_000,
    maxTokens: 4000,
    timeoutSeconds: 30,
    maxRetries: 0,
  } as const;
  const job = await prepare({ models: [model("a", settings)] }, ["a_key"]);
  expect(job.models[0]).toMatchObject(settings);
});

test("the job of a run lets a command line wait a day for its model if its spending needs approval", async () => {
  const approve = { hosts: [], over: 5, agents: [], tools: [] };
  const seconds = async (type: "pi" | "llm-cli") => {
    const harness = { type, command: "claude" };
    const job = await prepare({ models: [model("a")], harness, approve }, ["a_key"]);
    return job.models[0]?.timeoutSeconds;
  };
  expect([await seconds("pi"), await seconds("llm-cli")]).toEqual([null, 86_400]);
});

test("the job of a run has the variables of the agent's config", async () => {
  const local = { memory: null, cpus: null, network: null, env: { LOG_LEVEL: "debug" } };
  const job = await prepare({ models: [model("a")], local }, ["a_key"]);
  expect(job.env).toEqual({ LOG_LEVEL: "debug" });
});

test("the job of a run continues without a fallback that has no key or no script, with the reason", async () => {
  const models = [model("a"), model("b"), model("c", { provider: "scripted", script: "/x" })];
  const job = await prepare({ models }, ["a_key"]);
  expect(job.models.map(({ name, problem }) => [name, problem])).toEqual([
    ["c", "no such script"],
    ["b", "credential b_key is missing; write the secret to /home/b_key/default/key"],
    ["a", undefined],
  ]);
});

test("the job of a run uses another model when the primary has no key, and fails when none has one", async () => {
  const job = await prepare({ models: chain }, ["b_key"]);
  expect(job.models.map(({ name, problem }) => [name, problem === undefined])).toEqual([
    ["c", false],
    ["b", true],
    ["a", false],
  ]);
  const reason = (name: string) =>
    `"${name}": credential ${name}_key is missing; write the secret to /home/${name}_key/default/key`;
  await expect(prepare({ models: chain }, [])).rejects.toMatchObject({
    code: "no_model",
    message: `no model can be used: ${["c", "b", "a"].map(reason).join("; ")}`,
  });
  await expect(prepare({ models: [model("a")] }, [])).rejects.toMatchObject({
    message: `model ${reason("a")}`,
  });
});

test("the job of a run fails when the agent lacks a credential", async () => {
  const credential = prepare({ models: [model("a")], credentials: ["github_token"] }, ["a_key"]);
  await expect(credential).rejects.toMatchObject({ message: /github_token is missing/ });
});

test("the job of a run has only the primary model for an external CLI, in spite of cooldowns", async () => {
  const harness = { type: "llm-cli", command: "claude" } as const;
  const job = await prepare({ models: chain, harness }, ["a_key"]);
  expect(job.models.map(({ name }) => name)).toEqual(["a"]);
  const without = prepare({ models: chain, harness }, ["b_key", "c_key"]);
  await expect(without).rejects.toMatchObject({ message: /^model "a": credential a_key/ });
});
