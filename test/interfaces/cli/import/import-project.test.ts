import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { listAgents, readAgent } from "../../../../src/foundation/config/agent-files.ts";
import { loadProject } from "../../../../src/foundation/config/resolve-project.ts";
import { resolveAgent } from "../../../../src/foundation/config/resolve-agent.ts";
import { knownToAgents } from "../../../../src/interfaces/operations/project-files.ts";
import { filterTable } from "../../../../src/features/webhooks/providers/table.ts";
import { makeImportFolders, type ImportFolders, type Told } from "./run-import.ts";
import { currentProject, exampleAgents, smallProject, writeFiles } from "./their-projects.ts";

let folders: ImportFolders;
let source: string;
let target: string;
beforeEach(() => {
  folders = makeImportFolders();
  ({ source, target } = folders);
});

function read(path: string): string {
  return readFileSync(join(target, path), "utf8");
}

/** Every agent of the new project, as the scheduler has it. */
async function resolvedAgents() {
  const { project, warnings } = await loadProject(target, filterTable);
  expect(warnings).toEqual([]);
  const { names } = await listAgents(target);
  const files = await Promise.all(names.map((name) => readAgent(target, name)));
  return files.map((each) => each && resolveAgent(each, project, knownToAgents()));
}

/** The edit of a line that installs a package by apk. */
function apk(name: string): string {
  const message =
    "there is no apk in al-agent:latest, which is Debian, and packages may have other names";
  const fix = "apt-get update && apt-get install -y --no-install-recommends <packages>";
  return `${message}: RUN apk add --no-cache ${name} | ${fix}`;
}

const closedNetwork =
  'config.toml: runs reach their models, the hosts of their credentials and no others here, as the default network is closed | [network] with allow = ["api.example.com", "npm"]';

/** As text, so that each is one line of a failed comparison. */
function places(remarks: readonly Told[]): string[] {
  return remarks.map(
    ({ file, line, message, fix }) => `${file ?? ""}:${line ?? ""} ${message} | ${fix ?? ""}`,
  );
}

test("al import of a project makes agents that load without errors, and leaves the source unchanged", async () => {
  writeFiles(source, currentProject);
  const before = execFileSync("sh", [
    "-c",
    `cd '${source}' && find . -type f | sort | xargs sha256sum`,
  ]);
  const { agents, files, leftOut } = await folders.imported();
  expect(agents).toEqual(["bot", "nightly", "worker"]);
  for (const path of files) expect(existsSync(join(target, path)), path).toBe(true);
  expect(leftOut).toEqual(["README.md"]);
  expect(await resolvedAgents()).toMatchObject([
    { type: "set", agent: { name: "bot", callable: true } },
    { type: "set", agent: { name: "nightly", runtime: { type: "host-user" } } },
    { type: "set", agent: { name: "worker", models: [{ name: "small" }, { name: "own" }] } },
  ]);
  const after = execFileSync("sh", [
    "-c",
    `cd '${source}' && find . -type f | sort | xargs sha256sum`,
  ]);
  expect(after.toString()).toBe(before.toString());
});

test("al import of a project keeps what means the same, with its comments, and translates the rest", async () => {
  writeFiles(source, currentProject);
  await folders.imported();
  expect(read("config.toml")).toMatch(
    /^#:schema \.al\/schema\/project\.json\n\n# As many as the machine takes\.\nscale = 20\nworkQueueSize = 50\n/,
  );
  const { project } = await loadProject(target, filterTable);
  expect(project).toMatchObject({
    workQueueSize: 50,
    local: { memory: "2g" },
    webhooks: { hub: { credential: "Acme" }, errors: { credential: "default" } },
    models: { own: { authType: "api_key" } },
  });
  expect(Object.keys(project.webhooks)).toEqual(["hub", "errors"]);
  expect(read("agents/worker/config.toml")).toContain('# schedule = "0 * * * *"');
  const [, , worker] = await resolvedAgents();
  expect(worker).toMatchObject({
    agent: {
      credentials: ["github_token", "git_ssh:bot", "cloudflare_token"],
      params: { label: "ready", maxAgeHours: 24, limits: '{"days":2}' },
      webhooks: [
        { filters: { events: ["issues"], author: "ada" } },
        { filters: { events: ["issue_comment"] }, where: { "issue.user.login": "ada" } },
      ],
    },
  });
});

test("al import of a project merges the project's Dockerfile into each agent's, on the image of this program", async () => {
  writeFiles(source, currentProject);
  await folders.imported();
  expect(read("agents/worker/Dockerfile")).toBe(`# Tools of this agent.
#   RUN apk add --no-cache python3

FROM al-agent:latest

# From the Dockerfile of the project, which all its agents' images were built on.
USER root
RUN apk add --no-cache ripgrep
USER al


USER root
RUN apk add --no-cache github-cli
USER al
`);
  expect(read("agents/bot/Dockerfile")).toContain("ripgrep");
  expect(existsSync(join(target, "agents/nightly/Dockerfile"))).toBe(false);
});

test("al import of a project reports settings that the scheduler rejects: an endpoint without an address, an unknown provider", async () => {
  const models =
    '[models.a]\nprovider = "custom"\nmodel = "m"\n\n[models.b]\nprovider = "bedrock"\nmodel = "m"\n';
  writeFiles(source, { ...smallProject, "config.toml": models });
  const { edits } = await folders.imported();
  const text = places(edits).join("\n");
  expect(text).toMatch(/config\.toml:\d+ an endpoint of your own .* in \[models\.a\]: baseUrl/);
  expect(text).toMatch(/config\.toml:\d+ models\.b\.provider is "bedrock"/);
});

test("al import of a project needs no edit for the network if the project names one", async () => {
  const local = '\n[local]\nnetwork = "bridge"\n';
  writeFiles(source, smallProject);
  writeFiles(source, { "config.toml": `${smallProject["config.toml"] ?? ""}${local}` });
  const { edits } = await folders.imported();
  expect(places(edits)).not.toContain(closedNetwork);
});

test("al import of a project gives an agent that names a shared file a copy of it", async () => {
  writeFiles(source, currentProject);
  await folders.imported();
  expect(read("agents/worker/SKILL.md")).toContain("!`cat references/shared/style.md`");
  expect(read("agents/worker/references/shared/style.md")).toBe("Short sentences.\n");
  expect(existsSync(join(target, "agents/nightly/references"))).toBe(false);
});

test("al import of a project names every remaining edit, with its file, line and new text", async () => {
  writeFiles(source, currentProject);
  const { edits, notes } = await folders.imported();
  expect(places(edits.filter(({ file }) => file !== null))).toEqual([
    'config.toml: telemetry is left out: al sends traces by OTLP; its keys are others, and GET /metrics has the numbers for Prometheus | [telemetry] with otlp = "http://localhost:4318"',
    closedNetwork,
    'config.toml: the webhook source guild of type "discord" is left out: al has no such type | [webhooks.guild] with type = "standard", for a service in between that signs as Standard Webhooks',
    'agents/bot/config.toml: deliveries of guild (application_command) do not start it: al has no such type of webhook source; the entry is left out | a [[webhooks]] entry for a source of type "standard", with a service that signs for it in between',
    `agents/bot/Dockerfile:4 ${apk("ripgrep")}`,
    "agents/nightly/config.toml:7 runtime.groups is left out: the OS user of its runs has to be in the groups | sudo usermod --append --groups <groups> <runtime.run_as>",
    "agents/worker/SKILL.md:10 there is no setenv: a variable lasts for one command | set the variable in the command that needs it, or keep the value in a file",
    `agents/worker/Dockerfile:8 ${apk("ripgrep")}`,
    `agents/worker/Dockerfile:13 ${apk("github-cli")}`,
  ]);
  const text = places(notes).join("\n");
  for (const part of [
    "authType pi_auth, pi's own login, is not here; written as api_key",
    "webhookQueueSize is called workQueueSize here",
    "the keys of .env.toml are part of it now: local",
    "agents/worker/config.toml:14 author of issue_comment is another field here; where compares issue.user.login",
    "params.limits is written as text",
    "compatibility is left out",
  ])
    expect(text).toContain(part);
});

test("al import of a project accepts agents from the time of agent-config.toml and ACTIONS.md, with their own models", async () => {
  writeFiles(source, exampleAgents);
  const { agents, edits } = await folders.imported();
  expect(agents).toEqual(["builder", "gardener", "triage"]);
  const { project } = await loadProject(target, filterTable);
  expect(project.models).toMatchObject({
    "claude-sonnet-4-5": { thinkingLevel: "medium" },
    "claude-sonnet-4-5-xhigh": { model: "claude-sonnet-4-5", thinkingLevel: "xhigh" },
    "claude-haiku-4-5": {},
  });
  expect(project.webhooks).toMatchObject({ github: { type: "github", credential: "default" } });
  expect(await resolvedAgents()).toMatchObject([
    { type: "set", agent: { models: [{ name: "claude-sonnet-4-5" }], timeoutSeconds: 1800 } },
    { type: "set", agent: { params: { words: ["spam", "insult"], max_age_hours: 24 } } },
    { type: "set", agent: { models: [{ name: "claude-sonnet-4-5-xhigh" }] } },
  ]);
  expect(read("agents/builder/config.toml")).toContain("# Where to look when nothing was sent.");
  expect(places(edits.filter(({ file }) => file !== null))).toEqual([
    closedNetwork,
    'agents/builder/SKILL.md:6 a lock is taken on a URI here | rlock "github:issue/$REPO/$NUMBER"',
    'agents/builder/SKILL.md:9 a lock is taken on a URI here | runlock "github:issue/$REPO/$NUMBER"',
  ]);
});

test("al import of a project follows no link out of the source", async () => {
  writeFiles(source, smallProject);
  mkdirSync(join(source, "agents/reporter/assets"));
  symlinkSync("/etc/passwd", join(source, "agents/reporter/assets/passwd"));
  const { leftOut } = await folders.imported();
  expect(leftOut).toContain("reporter/assets/passwd");
  expect(existsSync(join(target, "agents/reporter/assets"))).toBe(false);
});
