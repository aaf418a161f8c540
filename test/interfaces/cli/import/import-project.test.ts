import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { loadProject } from "../../../../src/foundation/config/resolve-project.ts";
import { filterTable } from "../../../../src/features/webhooks/providers/table.ts";
import { resolvedAgents } from "../resolved-agents.ts";
import { importFolders, type Imported } from "./run-import.ts";
import { currentProject, exampleAgents, smallProject, writeFiles } from "./their-projects.ts";

const folders = importFolders();

/** Imports a project of these files. */
function imported(files: Readonly<Record<string, string>>): Promise<Imported> {
  writeFiles(folders().source, files);
  return folders().imported();
}

const pathOf = (path: string) => join(folders().target, path);
const read = (path: string) => readFileSync(pathOf(path), "utf8");
const project = async () => (await loadProject(folders().target, filterTable)).project;

/** The edit of a line that installs a package by apk. */
function apk(name: string): string {
  const message =
    "there is no apk in al-agent:latest, which is Debian, and packages may have other names";
  const fix = "apt-get update && apt-get install -y --no-install-recommends <packages>";
  return `${message}: RUN apk add --no-cache ${name} | ${fix}`;
}

const closedNetwork =
  'config.toml: runs reach their models, the hosts of their credentials and no others here, as the default network is closed | [network] with allow = ["api.example.com", "npm"]';

/** The edits that are left to do in files, each as one line. */
function places(remarks: Imported["edits"]): string[] {
  return remarks
    .filter(({ file }) => file !== null)
    .map(({ file, line, message, fix }) => `${file}:${line ?? ""} ${message} | ${fix ?? ""}`);
}

describe("al import of a project", () => {
  test("makes agents that load without errors, and leaves the source unchanged", async () => {
    const { source } = folders();
    writeFiles(source, currentProject);
    const sums = () =>
      execFileSync("sh", ["-c", `cd '${source}' && find . -type f | sort | xargs sha256sum`]);
    const before = sums();
    const { agents, files, leftOut } = await folders().imported();
    expect(agents).toEqual(["bot", "nightly", "worker"]);
    for (const path of files) expect(existsSync(pathOf(path)), path).toBe(true);
    expect(leftOut).toEqual(["README.md"]);
    expect(await resolvedAgents(folders().target)).toMatchObject([
      { type: "set", agent: { name: "bot", callable: true } },
      { type: "set", agent: { name: "nightly", runtime: { type: "host-user" } } },
      {
        type: "set",
        agent: {
          name: "worker",
          models: [{ name: "small" }, { name: "own" }],
          credentials: ["github_token", "git_ssh:bot", "cloudflare_token"],
          params: { label: "ready", maxAgeHours: 24, limits: '{"days":2}' },
        },
      },
    ]);
    expect(sums()).toEqual(before);
  });

  test("keeps what means the same, with its comments, and translates the rest", async () => {
    await imported(currentProject);
    expect(read("config.toml")).toMatch(
      /^#:schema \.al\/schema\/project\.json\n\n# As many as the machine takes\.\nscale = 20\nworkQueueSize = 50\n/,
    );
    expect(read("agents/worker/config.toml")).toContain('# schedule = "0 * * * *"');
    const { webhooks, ...config } = await project();
    expect(webhooks).toEqual({
      hub: expect.objectContaining({ credential: "Acme" }) as object,
      errors: expect.objectContaining({ credential: "default" }) as object,
    });
    expect(config).toMatchObject({
      local: { memory: "2g" },
      models: { own: { authType: "api_key" } },
    });
  });

  test("merges the project's Dockerfile into each agent's, and copies a shared file to the agent that names it", async () => {
    await imported(currentProject);
    expect(read("agents/worker/Dockerfile")).toMatch(
      /^FROM al-agent:latest\n[^]*RUN apk add --no-cache ripgrep\nUSER al\n[^]*RUN apk add --no-cache github-cli\nUSER al\n$/m,
    );
    expect(read("agents/bot/Dockerfile")).toContain("ripgrep");
    expect(read("agents/worker/SKILL.md")).toContain("!`cat references/shared/style.md`");
    expect(read("agents/worker/references/shared/style.md")).toBe("Short sentences.\n");
    for (const path of ["Dockerfile", "references"])
      expect(existsSync(pathOf(`agents/nightly/${path}`))).toBe(false);
  });

  test("reports settings that the scheduler rejects: an endpoint without an address, an unknown provider", async () => {
    const models =
      '[models.a]\nprovider = "custom"\nmodel = "m"\n\n[models.b]\nprovider = "bedrock"\nmodel = "m"\n';
    const { edits } = await imported({ ...smallProject, "config.toml": models });
    const text = places(edits).join("\n");
    expect(text).toMatch(/config\.toml:\d+ an endpoint of your own .* in \[models\.a\]: baseUrl/);
    expect(text).toMatch(/config\.toml:\d+ models\.b\.provider is "bedrock"/);
  });

  test("needs no edit for the network if the project names one", async () => {
    const config = `${smallProject["config.toml"]}\n[local]\nnetwork = "bridge"\n`;
    const { edits } = await imported({ ...smallProject, "config.toml": config });
    expect(places(edits)).not.toContain(closedNetwork);
  });

  test("names every remaining edit, with its file, line and new text", async () => {
    const { edits, notes } = await imported(currentProject);
    expect(places(edits)).toEqual([
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

  test("accepts agents from the time of agent-config.toml and ACTIONS.md, with their own models", async () => {
    const { agents, edits } = await imported(exampleAgents);
    expect(agents).toEqual(["builder", "gardener", "triage"]);
    expect(await project()).toMatchObject({
      models: {
        "claude-sonnet-4-5": { thinkingLevel: "medium" },
        "claude-sonnet-4-5-xhigh": { model: "claude-sonnet-4-5", thinkingLevel: "xhigh" },
        "claude-haiku-4-5": {},
      },
      webhooks: { github: { type: "github", credential: "default" } },
    });
    expect(await resolvedAgents(folders().target)).toMatchObject([
      { type: "set", agent: { models: [{ name: "claude-sonnet-4-5" }], timeoutSeconds: 1800 } },
      { type: "set", agent: { params: { words: ["spam", "insult"], max_age_hours: 24 } } },
      { type: "set", agent: { models: [{ name: "claude-sonnet-4-5-xhigh" }] } },
    ]);
    expect(read("agents/builder/config.toml")).toContain("# Where to look when nothing was sent.");
    expect(places(edits)).toEqual([
      closedNetwork,
      'agents/builder/SKILL.md:6 a lock is taken on a URI here | rlock "github:issue/$REPO/$NUMBER"',
      'agents/builder/SKILL.md:9 a lock is taken on a URI here | runlock "github:issue/$REPO/$NUMBER"',
    ]);
  });

  test("follows no link out of the source", async () => {
    const assets = join(folders().source, "agents/reporter/assets");
    mkdirSync(assets, { recursive: true });
    symlinkSync("/etc/passwd", join(assets, "passwd"));
    const { leftOut } = await imported(smallProject);
    expect(leftOut).toContain("reporter/assets/passwd");
    expect(existsSync(pathOf("agents/reporter/assets"))).toBe(false);
  });
});
