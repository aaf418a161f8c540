import type { AgentConfig } from "../../../../../streams/agent-config.ts";
import { resolveProject } from "../../../../../src/foundation/config/resolve-project.ts";
import type { InstallationTokens } from "../../../../../src/features/github-app/installation-tokens.ts";
import { createBrokering } from "../../../../../src/runtime/run-api/egress/broker/brokering.ts";
import { prepareJob } from "../../../../../src/runtime/runs/prepare-job.ts";
import { bareSources } from "../../../runs/job-sources.ts";
import { anAgent, anItem } from "../../../../helpers/agents.ts";
import { schedulerContext } from "../../../../helpers/scheduler-context.ts";

const token = `ghp_${"R3al".repeat(9)}`;
const stored: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  github_token: { token },
  my_own: { word: "w0rd-of-mine" },
  github_app: {
    app_id: "4711",
    private_key: "R3al-key",
    api_url: "https://git.acme.test/api/v3",
    name: "al[bot]",
  },
};

/** Tokens that name the run and the app, and whether the run has them itself. */
const tokenFor: InstallationTokens["tokenFor"] = ({ instanceId }, { fields }, isInRun) =>
  Promise.resolve(`${instanceId} ${fields.app_id} ${isInRun}`);

function credential(type: string) {
  const fields = stored[type];
  if (fields === undefined) return Promise.reject(new Error(`${type} is gone`));
  return Promise.resolve({ type, instance: "default", fields });
}

function projectOf(text: string) {
  const file = { dir: "/p", text, machineTimezone: "UTC", machineCores: 2 };
  const change = resolveProject(file, {});
  if (change.type === "set") return change.project;
  throw new Error(change.problems.map(({ message }) => message).join("\n"));
}

const maskKey = () => "6b".repeat(32);

function brokeringOf(project: string, whyNotClosed: string | null = "forbidden") {
  const context = schedulerContext({ project: projectOf(project), credential });
  const store = { ...context.store, settings: { ...context.store.settings, maskKey } };
  return createBrokering({ ...context, store }, () => Promise.resolve(whyNotClosed), tokenFor);
}

const inContainer: Partial<AgentConfig> = { runtime: { type: "container", runAs: "$USER" } };
const withTable: Partial<AgentConfig> = { network: { allow: [] } };

/** The job of a run, and what its requests get. */
async function jobOf(config: Partial<AgentConfig>, project = "", whyNotClosed?: string | null) {
  const agent = anAgent("dev", { credentials: ["github_token"], ...config });
  const request = { instanceId: "dev-abcdefgh", agent, item: anItem("1") };
  const brokering = brokeringOf(project, whyNotClosed);
  const sources = { ...bareSources, credential, broker: brokering.forRun };
  const job = await prepareJob(request, "/w", sources);
  return { job, bindings: await brokering.bindings(request), request };
}

test.each([
  ["a container without a network", inContainer, ""],
  ["a host user's run that has to be closed", withTable, ""],
  ["a host user's run in a project with an allow list", {}, '[network]\nallow = ["npm"]'],
  ["a run of the scheduler's own user that can be closed", {}, "", null],
])("%s gets placeholders for its secrets", async (_what, config, project, whyNotClosed?: null) => {
  const { job, bindings } = await jobOf(config, project, whyNotClosed);
  expect(JSON.stringify(job)).not.toContain("R3al");
  expect(bindings).toMatchObject([
    { secret: token, sentinel: job.credentials[0]?.env.GITHUB_TOKEN },
  ]);
  expect(job.network?.authority).toContain("BEGIN CERTIFICATE");
});

test.each([
  ["a container with a network", { ...inContainer, ...withTable }, '[local]\nnetwork = "bridge"'],
  ["a run of the scheduler's own user that can't be closed", {}, "", "forbidden"],
  ["a run of another OS user", { runtime: { type: "host-user", runAs: "other" } }, "", null],
])(
  "%s gets the secrets themselves, and TLS is not intercepted",
  async (_what, config, project, why?) => {
    const { job, bindings } = await jobOf(config as Partial<AgentConfig>, project, why);
    expect(job.credentials[0]?.env.GITHUB_TOKEN).toBe(token);
    expect(job.network).toBeUndefined();
    expect(bindings).toEqual([]);
  },
);

test("a secret listed in [network.credentials] is replaced by a placeholder", async () => {
  const project = '[network.credentials]\nmy_own = ["api.example.com"]';
  const { job, bindings } = await jobOf({ ...inContainer, credentials: ["my_own"] }, project);
  expect(JSON.stringify(job)).not.toContain("w0rd-of-mine");
  expect(bindings).toMatchObject([{ secret: "w0rd-of-mine", hosts: ["api.example.com"] }]);
});

test("a run without placeholders for secrets has no certificate authority", async () => {
  const { job } = await jobOf({ ...inContainer, credentials: ["my_own"] });
  expect(job.network).toBeUndefined();
  expect(job.credentials[0]?.env).toEqual({ MY_OWN_WORD: "w0rd-of-mine" });
});

test("a restarted scheduler makes the same placeholders for secrets, and skips a deleted credential", async () => {
  const { bindings, request } = await jobOf(inContainer);
  const agent = { ...request.agent, credentials: ["gone", "github_token"] };
  expect(await brokeringOf("").bindings({ ...request, agent })).toEqual(bindings);
});

const ofApp: Partial<AgentConfig> = {
  credentials: ["github_app"],
  githubApp: { permissions: { contents: "read" }, repos: ["acme/website"] },
};

test("a run gets a placeholder for a GitHub App's token, which is minted for the app's hosts when a request needs it", async () => {
  const { job, bindings } = await jobOf({ ...inContainer, ...ofApp });
  expect(JSON.stringify(job)).not.toMatch(/R3al|4711|api\/v3/);
  const [credential] = job.credentials;
  expect(credential).toMatchObject({
    type: "github_app",
    git: { url: "https://git.acme.test", username: "x-access-token", variable: "GITHUB_TOKEN" },
    env: { GH_HOST: "git.acme.test", GIT_AUTHOR_NAME: "al[bot]" },
  });
  const [binding] = bindings;
  expect(binding).toMatchObject({ secret: null, sentinel: credential?.env.GH_TOKEN });
  expect(binding?.sentinel).toMatch(/^ghs_AlSentinel/);
  expect(binding?.hosts).toEqual(["git.acme.test"]);
  expect(await binding?.mint?.()).toBe("dev-abcdefgh 4711 false");
});

test("a run whose network is open gets a GitHub App's token of its own, and not the private key", async () => {
  const { job, bindings } = await jobOf(ofApp, "", "forbidden");
  expect(job.credentials[0]?.env.GITHUB_TOKEN).toBe("dev-abcdefgh 4711 true");
  expect(JSON.stringify(job)).not.toContain("R3al");
  expect(bindings).toEqual([]);
});
