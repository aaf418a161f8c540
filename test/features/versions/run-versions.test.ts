import { canonicalConfig } from "../../../src/foundation/config/canonical-config.ts";
import { createRunVersions, maskWith } from "../../../src/features/versions/run-versions.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { aModelConfig, anAgent } from "../../helpers/agents.ts";

const mask = maskWith("key");
const project = { local: { network: "none" }, network: null };

type Options = Parameters<typeof canonicalConfig>[1];
const defaults: Options = { projectDir: "/project", mask, container: null, project, files: {} };

const canonical = (config: Partial<AgentConfig>, more: Partial<Options> = {}) =>
  canonicalConfig(anAgent("dev", config), { ...defaults, ...more });

const local = { memory: null, cpus: null, network: null };
const model = aModelConfig();

test("the config stored with an agent's version has the key names of config.toml, and only keys that are set", () => {
  const files = { "scripts/a.sh": "1234" };
  const models = [{ ...model, script: "/project/dev.script.toml" }];
  const config = { schedule: "0 9 * * *", hooks: { pre: ["make"], post: [] }, models };
  expect(JSON.parse(canonical(config, { files }))).toEqual({
    name: "dev",
    title: "dev",
    schedule: "0 9 * * *",
    timezone: "UTC",
    catchUp: "none",
    callable: false,
    scale: 1,
    timeout: 900,
    maxWorkQueueSize: 100,
    waitTimeout: 1800,
    budget: { run: 10, warnAt: [50, 80], onLimit: "stop" },
    files,
    harness: { type: "pi", command: "claude" },
    hooks: { pre: ["make"] },
    local: { network: "none" },
    models: [
      {
        name: "scripted",
        provider: "scripted",
        model: "scripted",
        authType: "none",
        credential: "scripted_key",
        script: "dev.script.toml",
      },
    ],
    runtime: { type: "host-user", run_as: "$USER" },
  });
});

test("the order of config keys does not change an agent's version", () => {
  const of = (env: Record<string, string>) => canonical({ local: { ...local, env } });
  expect(of({ A: "1", B: "2" })).toBe(of({ B: "2", A: "1" }));
});

test("the label of an agent does not change its version", () =>
  expect(canonical({ tags: ["web"] })).toBe(canonical({})));

test("the config stored with an agent's version contains secrets only as hashes, which differ by value and by project", () => {
  const of = (secret: string) =>
    canonical({
      local: { ...local, env: { TOKEN: secret } },
      models: [{ ...model, headers: { auth: secret }, baseUrl: `https://me:${secret}@a.test/` }],
      source: `https://${secret}@example.org/skills.git`,
    });
  expect(of("hunter2")).not.toContain("hunter2");
  expect(of("hunter2").match(/\(hidden, hash [0-9a-f]{12}\)/g)).toHaveLength(4);
  expect(of("hunter2")).toBe(of("hunter2"));
  expect(of("hunter2")).not.toBe(of("hunter3"));
  expect(maskWith("other")("hunter2")).not.toBe(mask("hunter2"));
});

test("the project's container settings are part of an agent's version, unless the agent sets its own", () => {
  const config = { local: { ...local, memory: "1g", env: {} } };
  const container = { image: "al:latest", memory: "4g", cpus: 2 };
  expect(JSON.parse(canonical(config, { container }))).toMatchObject({
    image: "al:latest",
    local: { memory: "1g", cpus: 2, network: "none" },
  });
});

test("the config stored with an agent's version lists the allowed hosts of the project and of the agent", () => {
  const own = { allow: ["github", "api.example.com"] };
  const ofProject = { allow: ["github", "npm"], credentials: {} };
  const networkOf = (agent: AgentConfig["network"], given: typeof ofProject | null): unknown => {
    const text = canonical({ network: agent }, { project: { ...project, network: given } });
    return (JSON.parse(text) as { network?: unknown }).network;
  };
  expect(networkOf(own, ofProject)).toEqual({ allow: ["github", "npm", "api.example.com"] });
  expect(networkOf(own, null)).toEqual(own);
  expect(networkOf(null, ofProject)).toMatchObject({ allow: ["github", "npm"] });
  expect(networkOf(null, null)).toBeUndefined();
});

test("an agent's version changes with its config, instructions and files only", async () => {
  let files: Record<string, string> | null = {};
  let script = "";
  let changes = 0;
  const versionOf = createRunVersions({
    describe: (config, given) => canonicalConfig(config, { ...defaults, files: given }),
    files: () => (files === null ? Promise.reject(new Error("a link")) : Promise.resolve(files)),
    scripts: () => Promise.resolve(script),
    onChange: () => changes++,
  });
  const hashOf = async (config: Partial<AgentConfig>): Promise<string> =>
    (await versionOf(anAgent("dev", config))).hash;
  const first = await hashOf({});
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(await hashOf({})).toBe(first);
  expect(changes).toBe(0);
  const hashes = [first, await hashOf({ scale: 2 }), await hashOf({ instructions: "Do more." })];
  for (const given of [{ "scripts/a.sh": "1234" }, null]) {
    files = given;
    hashes.push(await hashOf({}));
  }
  files = {};
  script = "# dev.script.toml\n";
  hashes.push(await hashOf({}));
  expect(new Set(hashes).size).toBe(6);
  expect(changes).toBe(5);
  script = "";
  expect(await hashOf({})).toBe(first);
});
