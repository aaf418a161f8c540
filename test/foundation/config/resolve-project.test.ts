import { defaultBudget } from "../../../src/foundation/contracts/budget.ts";
import { aModelConfig } from "../../helpers/agents.ts";
import {
  fixture,
  project,
  projectChange,
  refusal,
  said,
  unsetOfProject,
  usualProject,
} from "./samples.ts";

test("resolveProject fills in all defaults", () =>
  expect(project("")).toEqual({
    models: {},
    harness: { type: "pi", command: "claude" },
    local: {
      image: "al-agent:latest",
      memory: "4g",
      cpus: 2,
      timeoutSeconds: 900,
      network: "none",
      base: null,
      starting: 6,
    },
    gateway: {
      port: 8080,
      host: "127.0.0.1",
      allowedHosts: [],
      trustProxy: false,
      maxBodyBytes: 26_214_400,
      publicUrl: null,
      edit: true,
    },
    webhooks: {},
    budget: defaultBudget,
    ...unsetOfProject,
    artifactsBytes: 2 * 1024 ** 3,
    workQueueSize: 100,
    defaultWaitTimeoutSeconds: 1800,
    resourceLockTimeoutSeconds: 1800,
    maxReruns: 10,
    maxCallDepth: 3,
    scale: null,
    historyRetentionDays: 14,
    historyMaxBytes: 2_147_483_648,
    timezone: "Europe/Berlin",
  }));

test("resolveProject resolves models and webhook sources", () => {
  const { models, webhooks } = project(usualProject);
  const unset = aModelConfig({ name: "main", provider: "anthropic" });
  const credential = { authType: "api_key", credential: "anthropic_key" } as const;
  expect(models.main).toEqual({ ...unset, ...credential, model: "claude-sonnet-4-5" });
  const script = "/srv/project/scripts/hello.json";
  expect(models.cheap).toMatchObject({ provider: "scripted", authType: "none", script });
  const hub = { name: "hub", type: "github", credential: "default", allowUnsigned: false };
  expect(webhooks.hub).toEqual(hub);
});

test("resolveProject prefers config.toml over the defaults", () => {
  expect(project(fixture("own-project.toml"))).toMatchObject({
    scale: 4,
    harness: { type: "pi", command: "/opt/cli" },
    local: { cpus: 0.5, memory: "4g" },
    gateway: { port: 0, host: "127.0.0.1" },
    models: {
      own: {
        credential: "custom_key:lab",
        thinkingLevel: "xhigh",
        api: "openai-responses",
        contextWindow: 200_000,
        maxTokens: 4096,
        timeoutSeconds: 120,
        maxRetries: 0,
        headers: { "X-Team": "a b" },
      },
    },
  });
});

test.each([
  ["workQueueSize = nan", "config.toml:1:17  workQueueSize is NaN"],
  ['timezone = "Berlin"', 'config.toml:1:12  timezone is "Berlin"'],
  ["gateway = 5", "config.toml:1:11  gateway is 5"],
  ["models = []", "config.toml:1:10  models is an empty list"],
  ['[gateway]\nallowedHosts = ["a", 5]', "config.toml:2:22  gateway.allowedHosts[1] is 5"],
  ['[models."a b"]\nprovider="scripted"', 'config.toml:1:9  the name "a b" is not allowed'],
  ['[models.m]\nmodel = "x"', "config.toml:1:1  models.m.provider is missing"],
  ['[models.m]\nprovider = "scripted"', "config.toml:1:1  models.m.script is missing"],
  [
    '[models.m]\nprovider = "openai"\nmodel="x"\ncredential = "gateway_api_key"',
    'config.toml:4:14  models.m.credential is "gateway_api_key"',
  ],
  [
    '[webhooks.hub]\ntype = "githup"',
    'config.toml:2:8  webhooks.hub.type is "githup"; expected one of "github", "sentry"; did you mean "github"?',
  ],
  [
    '[webhooks.hub]\ntype = "github"\ncredential = "../x"',
    'config.toml:3:14  webhooks.hub.credential is "../x"',
  ],
  ["__proto__.x = 1", "config.toml:1:1  not valid TOML: document contains an unsafe property"],
])("resolveProject refuses %j", (text, message) => {
  expect(refusal(projectChange(text))).toContain(`error: ${message}`);
});

test.each([
  ['"Authorization" = "Bearer x"', 'the name "Authorization" is not allowed'],
  ['"two words" = "x"', 'the name "two words" is not allowed'],
  ['"x-line" = "a\\nb"', "expected one line of printable ASCII text"],
])("resolveProject refuses the header %s of a model", (header, message) => {
  const text = `[models.m]\nprovider = "openai"\nmodel = "x"\nheaders = { ${header} }`;
  expect(refusal(projectChange(text))).toContain(message);
});

test("resolveProject refuses an OAuth token for Google's API, which takes none", () => {
  const model = '[models.m]\nprovider = "google"\nmodel = "x"\nauthType = "oauth_token"';
  expect(refusal(projectChange(model))).toContain(
    'config.toml:4:12  models.m.authType is "oauth_token", which Google\'s API does not accept',
  );
});

test("resolveProject warns of unknown keys at any depth, and ignores them", () => {
  const text =
    'sclae = 3\n[gateway]\nprot = 1\n[models.m]\nprovider = "scripted"\nscript = "s"\nmodle = "x"';
  const change = projectChange(text);
  expect(change.type).toBe("set");
  expect(said(change).sort()).toEqual([
    'warning: config.toml:1:1  unknown key "sclae" is ignored; did you mean "scale"?',
    'warning: config.toml:3:1  unknown key "prot" is ignored; did you mean "port"?',
    'warning: config.toml:7:1  unknown key "modle" is ignored; did you mean "model"?',
  ]);
  expect(JSON.stringify(change)).not.toContain('"prot"');
});

test("resolveProject warns that a removed key does nothing", () => {
  const change = projectChange("[local]\nwarm = 1\ncpus = 3");
  expect(change.type).toBe("set");
  expect(said(change)).toEqual([
    expect.stringContaining("warning: config.toml:2:1  local.warm does nothing"),
  ]);
});

test("resolveProject warns of webhook sources that accept unsigned deliveries, and of sources that reject all", () => {
  const text = '[webhooks.a]\ntype = "github"\n[webhooks.b]\ntype = "github"\nallowUnsigned = true';
  expect(said(projectChange(text))).toEqual([
    expect.stringMatching(/^warning: config.toml:1:1 .*a has no credential, so its deliveries/),
    expect.stringMatching(/^warning: config.toml:5:17 .*b accepts unsigned deliveries/),
  ]);
});
