import type { AgentConfig, ModelConfig } from "../../../streams/agent-config.ts";
import { Problem } from "../../../src/foundation/errors.ts";
import { prepareJob } from "../../../src/runtime/runs/prepare-job.ts";
import { bareSources } from "./job-sources.ts";
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

const missing = (type: string) =>
  `credential ${type} is missing; write the secret to /home/${type}/default/key`;

/** A job from these credentials, each with one field; models in the order of their names, backwards. */
function prepare(config: Partial<AgentConfig>, ...stored: readonly string[]) {
  const agent = anAgent("dev", { models: [model("a")], ...config });
  const request = { instanceId: "dev-abcdefgh", agent, item: anItem("1") };
  return prepareJob(request, "/w", {
    ...bareSources,
    credential: async (type) => {
      await Promise.resolve();
      if (stored.includes(type)) return { type, instance: "default", fields: { key: `k-${type}` } };
      const [text = "", hint = ""] = missing(type).split("; ");
      throw new Problem("missing_credential", text, hint);
    },
    broker: (_request, credentials) => Promise.resolve({ credentials, authority: null }),
    orderModels: (models) => models.toSorted((a, b) => b.name.localeCompare(a.name)),
  });
}

const chain = [model("a"), model("b"), model("c")];
const claude = { type: "llm-cli", command: "claude" } as const;

test("the job of a run lists its models in order, without keys or headers", async () => {
  const models = [model("a", { headers: { "x-team": "secret-of-a" } }), ...chain.slice(1)];
  const job = await prepare({ models }, "a_key", "b_key", "c_key");
  expect(job.models.map(({ name }) => name)).toEqual(["c", "b", "a"]);
  expect(JSON.stringify(job)).not.toMatch(/k-[abc]_key|secret-of-a/);
});

test("the job of a run contains the limits of its models and the agent's variables", async () => {
  const settings = {
    api: "openai-completions",
    contextWindow: 64_000,
    maxTokens: 4000,
    timeoutSeconds: 30,
    maxRetries: 0,
  } as const;
  const env = { LOG_LEVEL: "debug" };
  const local = { memory: null, cpus: null, network: null, env };
  const job = await prepare({ models: [model("a", settings)], local }, "a_key");
  expect(job).toMatchObject({ models: [settings], env });
});

test.each([
  ["pi", "its usual timeout", null],
  ["llm-cli", "a day", 86_400],
] as const)(
  "the job of a run of %s lets a model call that needs approval take %s",
  async (...row) => {
    const [type, , seconds] = row;
    const approve = { hosts: [], over: 5, agents: [], tools: [] };
    const job = await prepare({ harness: { ...claude, type }, approve }, "a_key");
    expect(job.models).toMatchObject([{ timeoutSeconds: seconds }]);
  },
);

test.each<[string, Partial<AgentConfig>, string, readonly [string, string?][]]>([
  [
    "skips fallbacks without a key or a script, with the reason",
    { models: [...chain.slice(0, 2), model("c", { provider: "scripted", script: "/x" })] },
    "a_key",
    [["c", "no such script"], ["b", missing("b_key")], ["a"]],
  ],
  [
    "has only the primary model for an external CLI, in spite of cooldowns",
    { models: chain, harness: claude },
    "a_key",
    [["a"]],
  ],
])("the job of a run %s", async (_what, config, stored, models) => {
  const job = await prepare(config, stored);
  expect(job.models.map(({ name, problem }) => [name, problem])).toEqual(
    models.map(([name, problem]) => [name, problem]),
  );
});

test.each<[string, Partial<AgentConfig>, readonly string[], string]>([
  [
    "no model has a key",
    { models: chain },
    [],
    `no model can be used: ${["c", "b", "a"].map((name) => `"${name}": ${missing(`${name}_key`)}`).join("; ")}`,
  ],
  [
    "the primary of an external CLI has no key",
    { models: chain, harness: claude },
    ["b_key", "c_key"],
    `model "a": ${missing("a_key")}`,
  ],
  [
    "its agent lacks a credential",
    { credentials: ["github_token"] },
    ["a_key"],
    "credential github_token is missing",
  ],
])("the job of a run can't be made when %s", (_when, config, stored, message) =>
  expect(prepare(config, ...stored)).rejects.toMatchObject({ message }),
);

test("the job of a run that an entry of schedules started has its prompt, and its params before the agent's", async () => {
  const schedule = { expression: "0 9 * * *", timezone: "UTC", calendar: null };
  const weekly = { ...schedule, name: "weekly", prompt: "The week.", params: { days: 7 } };
  const agent = anAgent("dev", {
    models: [model("a", { authType: "none" })],
    params: { days: 1, team: "x" },
    schedules: [weekly, { ...schedule, name: "2", prompt: null, params: {} }],
  });
  const jobOf = (name?: string) => {
    const trigger = { kind: "cron", scheduledFor: 0, ...(name && { schedule: name }) } as const;
    const request = { instanceId: "dev-abcdefgh", agent, item: { ...anItem("1"), trigger } };
    return prepareJob(request, "/w", {
      ...bareSources,
      credential: () => Promise.reject(new Error("none is listed")),
      broker: (_request, credentials) => Promise.resolve({ credentials, authority: null }),
    });
  };
  expect(await jobOf("weekly")).toMatchObject({
    schedulePrompt: "The week.",
    params: { days: 7, team: "x" },
  });
  for (const name of ["2", "removed", undefined]) {
    const job = await jobOf(name);
    expect([job.schedulePrompt, job.params]).toEqual([undefined, { days: 1, team: "x" }]);
  }
});
