/* oxlint-disable max-lines -- cases of one function */
import { alertCredentialTypes } from "../../../src/foundation/config/fields.ts";
import {
  agentChange,
  refusal,
  said,
  usualAgent,
  agent,
  agentFiles,
  fixture,
  known,
  project,
  unset,
  usualProject,
} from "./samples.ts";
import { resolveAgent } from "../../../src/foundation/config/resolve-agent.ts";

const at = "agents/dev/config.toml";

test("resolveAgent fills in all defaults", () =>
  expect(agent(usualAgent)).toEqual({
    name: "dev",
    title: "Developer",
    description: null,
    license: null,
    compatibility: null,
    instructions: "Do it.",
    source: null,
    sourceCommit: null,
    models: [project(usualProject).models.main],
    harness: { type: "pi", command: "claude" },
    credentials: [],
    schedule: "0 9 * * *",
    timezone: "Europe/Berlin",
    catchUp: "none",
    catchUpMost: 24,
    overlap: "skip",
    concurrency: null,
    session: null,
    callable: false,
    tags: [],
    scale: 1,
    timeoutSeconds: 900,
    budget: project("").budget,
    queueSize: 100,
    waitTimeoutSeconds: 1800,
    webhooks: [],
    debounce: null,
    params: {},
    runtime: { type: "container", runAs: "al-agent" },
    local: { memory: null, cpus: null, network: null, env: {} },
    ...unset,
    dockerfileHash: null,
  }));

test("resolveAgent reads every key that an agent's config.toml can have", () => {
  expect(agent(fixture("every-key.toml"), { skill: "Do it." })).toMatchObject({
    title: "dev",
    source: "https://example.org/skills.git",
    sourceCommit: "abc",
    models: [{ name: "cheap" }, { name: "main" }],
    harness: { type: "llm-cli", command: "claude" },
    credentials: ["github_token", "git_ssh:work", "github_app"],
    githubApp: { permissions: { contents: "write" }, repos: ["a/b"] },
    schedule: "*/5 * * * *",
    catchUp: "latest",
    catchUpMost: 3,
    overlap: "wait",
    concurrency: { key: "{repository}#{number}", limit: 2, onNew: "cancel" },
    session: { key: "{url}", keepMs: 86_400_000, maxTokens: 150_000, whileRunning: "steer" },
    callable: true,
    tags: ["web", "team-a"],
    scale: 3,
    timeoutSeconds: 60,
    queueSize: 7,
    waitTimeoutSeconds: 9,
    webhooks: [
      {
        source: "hub",
        type: "github",
        filters: { repos: ["a/b"], org: "a", ignoreSenders: ["bot"], ignoreBots: true },
      },
      { source: "errors", type: "sentry", filters: {} },
    ],
    debounce: { key: "{repository}", quietMs: 10_000 },
    hooks: { pre: ["git pull"], post: [] },
    params: { one: 1, dry: true, many: ["1", 2] },
    runtime: { type: "host-user", runAs: "$USER" },
  });
});

test("resolveAgent uses the project's settings for missing keys, then the defaults", () => {
  const projectText = `workQueueSize = 5\ndefaultWaitTimeout = 6\ntimezone = "UTC"
[harness]\ntype = "llm-cli"\ncommand = "cli"\n[local]\ntimeout = 7\n${usualProject}`;
  expect(agent(usualAgent, { projectText })).toMatchObject({
    queueSize: 5,
    waitTimeoutSeconds: 6,
    timeoutSeconds: 7,
    timezone: "UTC",
    harness: { type: "llm-cli", command: "cli" },
  });
  const own = agent(`${usualAgent}\n[harness]\ntype = "pi"`, { projectText });
  expect(own.harness.type).toBe("pi");
});

test("resolveAgent requires a schedule or webhooks unless the agent is callable or its scale is 0", () => {
  const neither = 'models = ["main"]\ncredentials = []\n';
  expect(refusal(agentChange(neither))).toMatch(
    /^error: .*config\.toml:1:1 {2}.*neither schedule nor webhooks/,
  );
  expect(said(agentChange(`${neither}shedule = "0 9 * * *"`)).join()).toMatch(
    /neither schedule nor webhooks.*unknown key "shedule".*did you mean "schedule"/,
  );
  expect(refusal(agentChange(`${neither}callable = false`))).toContain("set callable = true");
  expect(agent(`${neither}scale = 0`).schedule).toBeNull();
  expect(agent(`${neither}callable = true`).schedule).toBeNull();
  expect(agent(`${neither}[[webhooks]]\nsource = "hub"`).webhooks).toHaveLength(1);
});

test.each([
  [
    'schedule = "every day"',
    '4:12  schedule "every day" is not a cron expression; use five fields',
  ],
  ["scale = -1", "4:9  scale is -1; expected a whole number"],
  [
    'catchUp = "lastest"',
    '4:11  catchUp is "lastest"; expected one of "none", "latest", "all"; did you mean "latest"?',
  ],
  [
    '[concurrency]\nkey = "{repo}#{number}"',
    '5:7  concurrency.key is "{repo}#{number}"; expected a template, e.g. "{repository}#{number}": {repo} is not an attribute; use one of trigger, source',
  ],
  [
    '[session]\nkey = "{number}"\n[harness]\ntype = "llm-cli"\ncommand = "/opt/tool"',
    "4:1  /opt/tool keeps no session that another run can continue; use pi, claude, codex or gemini",
  ],
  [
    '[session]\nkey = "{number}"\nwhileRunning = "steer"\n[harness]\ntype = "llm-cli"\ncommand = "codex"',
    '6:16  codex accepts no messages while it works; use "wait", or pi or claude',
  ],
  [
    '[session]\nkey = "{number}"\nmaxTokens = 9000\n[harness]\ntype = "llm-cli"\ncommand = "gemini"',
    "6:13  gemini has no setting for the size of a session; remove the key",
  ],
  [
    '[session]\nkey = "{number}"\nkeep = "never"',
    '6:8  session.keep is "never"; expected a length',
  ],
  ["[params]\na = 2024-01-01", "5:5  params.a is a date; expected text, a number"],
  [
    '[runtime]\nrun_as = "-u root"',
    '5:10  runtime.run_as is "-u root"; expected the name of an OS user',
  ],
])("resolveAgent refuses %j", (lines, message) => {
  const start = lines.startsWith("schedule")
    ? usualAgent.replace(/schedule.*\n/, "\n")
    : usualAgent;
  expect(refusal(agentChange(start + lines))).toContain(`${at}:${message}`);
});

test.each(["gateway_api_key", "../secret", "github_token:../x"])(
  "resolveAgent refuses the credential %j",
  (credential) => {
    const config = usualAgent.replace("credentials = []", `credentials = ["a", "${credential}"]`);
    expect(refusal(agentChange(config))).toContain(
      `${at}:2:21  credentials[1] is "${credential}"; expected "type" or "type:instance"`,
    );
  },
);

test("resolveAgent lists the known models for an unknown one", () => {
  const config = usualAgent.replace('["main"]', '["main", "maim", "toString"]');
  expect(said(agentChange(config))).toEqual([
    `error: ${at}:1:19  model "maim" is not defined; expected one of "main", "cheap"; did you mean "main"?`,
    `error: ${at}:1:27  model "toString" is not defined; expected one of "main", "cheap"`,
  ]);
  expect(refusal(agentChange(usualAgent, { projectText: "" }))).toContain(
    `${at}:1:11  model "main" is not defined; the project's config.toml has none`,
  );
});

test("resolveAgent requires models and credentials", () =>
  expect(said(agentChange('schedule = "0 9 * * *"'))).toEqual([
    expect.stringMatching(/config\.toml:1:1 {2}models is missing; expected a list with/),
    expect.stringMatching(
      /config\.toml:1:1 {2}credentials is missing; expected a list of credentials/,
    ),
  ]));

test("resolveAgent warns of unknown keys and of filters that match nothing", () => {
  const change = agentChange(`schedul = 1\n${usualAgent}[[webhooks]]\nsource = "hub"\nevents = []`);
  expect(change.type).toBe("set");
  expect(said(change)).toEqual([
    `warning: ${at}:1:1  unknown key "schedul" is ignored; did you mean "schedule"?`,
    expect.stringMatching(/^warning: .*:7:10 {2}webhooks\[0\]\.events is an empty list/),
  ]);
});

test("resolveAgent warns of a credential type only if it looks like a misspelled known one", () => {
  const credentials = '["githb_token:bot", "gihtub_token", "gitea_token", "github_token"]';
  const others = usualAgent.replace(/cred.*\n/, "");
  const change = agentChange(`credentials = ${credentials}\n${others}`);
  expect(change.type).toBe("set");
  expect(said(change)).toEqual([
    `warning: ${at}:1:16  "githb_token" is not a known credential type; did you mean "github_token"?`,
    `warning: ${at}:1:35  "gihtub_token" is not a known credential type; did you mean "github_token"?`,
  ]);
});

test("resolveAgent reports the problems of config.toml and SKILL.md, and unreadable files", () => {
  const broken = agentFiles("a = ", "---js\n---\n");
  const problem = {
    severity: "error",
    file: "agents/dev/Dockerfile",
    line: null,
    column: null,
    message: "x",
  } as const;
  const change = resolveAgent({ ...broken, problems: [problem] }, project(usualProject), known);
  expect(said(change).map((text) => text.split("  ")[0])).toEqual([
    "error: agents/dev/Dockerfile",
    "error: agents/dev/config.toml:1:5",
    "error: agents/dev/SKILL.md:1:1",
  ]);
});

test("resolveAgent shortens thousands of warnings, and still shows the errors after them", () => {
  const flood = Array.from({ length: 5000 }, (_, i) => `key${i} = 1`).join("\n");
  const change = agentChange(`${flood}\n${usualAgent}scale = -1`);
  expect(change.type).toBe("invalid");
  const sayings = said(change);
  expect(sayings).toHaveLength(27);
  expect(sayings.filter((text) => text.includes("more problems"))).toHaveLength(1);
  expect(sayings).toContainEqual(expect.stringContaining("scale is -1"));
});

test.each([...Object.values(alertCredentialTypes), "otlp_headers:ops"])(
  "resolveAgent refuses %j, a credential of the scheduler",
  (credential) => {
    const config = usualAgent.replace("[]", `["${credential}"]`);
    expect(refusal(agentChange(config))).toContain(
      `2:16  credentials[0] is "${credential}"; expected a credential for runs`,
    );
  },
);
