import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listAgents, readAgent } from "../../../src/config/agent-files.ts";
import { loadProject } from "../../../src/config/load-project.ts";
import { resolveAgent } from "../../../src/config/resolve-agent.ts";
import { loadCredential } from "../../../src/credentials/load-credential.ts";
import { knownToAgents } from "../../../src/known-to-agents.ts";
import { filterTable } from "../../../src/webhooks/providers/table.ts";
import { makeFolders } from "../fake-operator.ts";
import type { Folders } from "../fake-operator.ts";
import { onTerminal, whyNoTerminal } from "../terminal.ts";
import {
  currentProject,
  exampleAgents,
  frontMatterProject,
  store,
  writeFiles,
} from "./their-projects.ts";

const noTerminal = whyNoTerminal();
if (noTerminal !== null) process.stderr.write(`skipped: al import on a terminal (${noTerminal})\n`);

let folders: Folders;
let source: string;
let target: string;
beforeEach(() => {
  folders = makeFolders();
  source = join(folders.home, "..", "theirs");
  target = join(folders.home, "..", "ours");
});
afterEach(() => folders.remove());

interface Told {
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
  readonly fix: string | null;
}

interface Result {
  readonly agents: readonly string[];
  readonly files: readonly string[];
  readonly copied: readonly string[];
  readonly edits: readonly Told[];
  readonly notes: readonly Told[];
  readonly leftOut: readonly string[];
}

async function imported(...more: readonly string[]): Promise<Result> {
  const { code, stdout, stderr } = await folders.al([
    "import",
    source,
    "--to",
    target,
    "--yes",
    "--json",
    ...more,
  ]);
  expect(code, stderr + stdout).toBe(0);
  return JSON.parse(stdout) as Result;
}

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

/** As text, so that each is one line of a failed comparison. */
function places(remarks: readonly Told[]): string[] {
  return remarks.map(
    ({ file, line, message, fix }) => `${file ?? ""}:${line ?? ""} ${message} | ${fix ?? ""}`,
  );
}

describe("al import of a project", () => {
  test("makes agents that load without a fault, and leaves the source as it is", async () => {
    writeFiles(source, currentProject);
    const before = execFileSync("sh", [
      "-c",
      `cd '${source}' && find . -type f | sort | xargs sha256sum`,
    ]);
    const { agents, files, leftOut } = await imported();
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

  test("keeps what means the same, with its comments, and writes the rest in this program's words", async () => {
    writeFiles(source, currentProject);
    await imported();
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
        params: { label: "ready", maxAgeHours: "24" },
        webhooks: [
          { filters: { events: ["issues"], author: "ada" } },
          { filters: { events: ["issue_comment"] }, where: { "issue.user.login": "ada" } },
        ],
      },
    });
  });

  test("puts the project's Dockerfile into each agent's, for Debian", async () => {
    writeFiles(source, currentProject);
    await imported();
    expect(read("agents/worker/Dockerfile")).toBe(`# Tools of this agent.
#   RUN apk add --no-cache python3

FROM al-agent:latest

# From the Dockerfile of the project, which all its agents' images were built on.
USER root
RUN apt-get update && apt-get install -y --no-install-recommends ripgrep && rm -rf /var/lib/apt/lists/*
USER al


USER root
RUN apt-get update && apt-get install -y --no-install-recommends gh && rm -rf /var/lib/apt/lists/*
USER al
`);
    expect(read("agents/bot/Dockerfile")).toContain("ripgrep");
    expect(existsSync(join(target, "agents/nightly/Dockerfile"))).toBe(false);
  });

  test("gives an agent that names a shared file a copy of it", async () => {
    writeFiles(source, currentProject);
    await imported();
    expect(read("agents/worker/SKILL.md")).toContain("!`cat references/shared/style.md`");
    expect(read("agents/worker/references/shared/style.md")).toBe("Short sentences.\n");
    expect(existsSync(join(target, "agents/nightly/references"))).toBe(false);
  });

  test("names every edit that is left, with its file and line and what to write", async () => {
    writeFiles(source, currentProject);
    const { edits, notes } = await imported();
    expect(places(edits.filter(({ file }) => file !== null))).toEqual([
      "config.toml:15 authType pi_auth, pi's own login, is not here; written as api_key | al creds add anthropic_key",
      'config.toml: the webhook source guild of type "discord" is left out: al has no such type | [webhooks.guild] with type = "standard", for a service in between that signs as Standard Webhooks',
      'agents/bot/config.toml: deliveries of guild (application_command) start it no more: al has no such type of webhook source; the entry is left out | a [[webhooks]] entry for a source of type "standard", with a service that signs for it in between',
      "agents/nightly/config.toml:7 runtime.groups is not here; give the OS user al-agent the groups instead | sudo usermod --append --groups docker al-agent",
      "agents/worker/SKILL.md:10 there is no setenv: a variable lasts for one command | set the variable in the command that needs it, or keep the value in a file",
    ]);
    const text = places(notes).join("\n");
    for (const part of [
      "webhookQueueSize is called workQueueSize here",
      "telemetry is left out: al sends no telemetry",
      "the keys of .env.toml are part of it now: local",
      "agents/worker/Dockerfile:8 apk add --no-cache ripgrep is written as apt-get update",
      "agents/worker/config.toml:16 author of issue_comment is another field here; where compares issue.user.login",
      "params.maxAgeHours is written as text",
      "compatibility is left out",
    ])
      expect(text).toContain(part);
  });

  test("takes agents from the time of agent-config.toml and ACTIONS.md, and their own models", async () => {
    writeFiles(source, exampleAgents);
    const { agents, edits } = await imported();
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
      { type: "set", agent: { params: { words: ["spam", "insult"], max_age_hours: "24" } } },
      { type: "set", agent: { models: [{ name: "claude-sonnet-4-5-xhigh" }] } },
    ]);
    expect(read("agents/builder/config.toml")).toContain("# Where to look when nothing was sent.");
    expect(places(edits.filter(({ file }) => file !== null))).toEqual([
      'agents/builder/SKILL.md:6 a lock is taken on a URI here | rlock "github:issue/$REPO/$NUMBER"',
      'agents/builder/SKILL.md:9 a lock is taken on a URI here | runlock "github:issue/$REPO/$NUMBER"',
    ]);
  });

  test("takes a config out of the front matter, and leaves there what belongs to a skill", async () => {
    writeFiles(source, frontMatterProject);
    await imported();
    expect(await resolvedAgents()).toMatchObject([
      {
        type: "set",
        warnings: [],
        agent: {
          ...{ description: "Reports", license: "MIT", schedule: "0 8 * * 1" },
          ...{
            credentials: ["sentry_token"],
            params: { team: "core" },
            hooks: { pre: ["echo ready"] },
          },
        },
      },
    ]);
    const skill = read("agents/reporter/SKILL.md");
    expect(skill).toContain("owner: ada");
    expect(skill).not.toContain("schedule");
  });

  test("follows no link out of the source", async () => {
    writeFiles(source, frontMatterProject);
    mkdirSync(join(source, "agents/reporter/assets"));
    symlinkSync("/etc/passwd", join(source, "agents/reporter/assets/passwd"));
    const { leftOut } = await imported();
    expect(leftOut).toContain("reporter/assets/passwd");
    expect(existsSync(join(target, "agents/reporter/assets"))).toBe(false);
  });
});

describe("al import refuses", () => {
  test("what is there already, the source itself, and what is no project", async () => {
    writeFiles(source, frontMatterProject);
    writeFiles(target, { "notes.txt": "mine" });
    const there = await folders.al(["import", source, "--to", target, "--yes"]);
    expect(there.stderr).toContain(`${target} is there already; nothing was written`);
    expect(readdirSync(target)).toEqual(["notes.txt"]);
    const inside = await folders.al(["import", source, "--to", join(source, "new"), "--yes"]);
    expect(inside).toMatchObject({ code: 2 });
    expect(inside.stderr).toContain("is in the project that is imported");
    const other = await folders.al(["import", folders.home, "--to", `${target}-2`, "--yes"]);
    expect(other).toMatchObject({ code: 2 });
  });

  test("to write without being asked to, but shows what it would do", async () => {
    writeFiles(source, currentProject);
    const { code, stderr } = await folders.al(["import", source, "--to", target]);
    expect(code).toBe(2);
    expect(stderr).toContain("--yes is missing: nothing was written");
    expect(stderr).toContain("agents/worker/SKILL.md:10");
    expect(existsSync(target)).toBe(false);
  });

  test("a config that is no TOML, with its place", async () => {
    writeFiles(source, { ...frontMatterProject, "config.toml": "a = = 1\n" });
    const { code, stderr } = await folders.al(["import", source, "--to", target, "--yes"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${join(source, "config.toml")}: `);
    expect(existsSync(target)).toBe(false);
  });
});

describe("credentials", () => {
  const theirs = () => join(folders.home, "..", "store");
  beforeEach(() => {
    writeFiles(source, currentProject);
    writeFiles(theirs(), store);
  });

  test("that the project needs are copied on demand, for their owner alone, under the names here", async () => {
    const { copied, edits } = await imported("--credentials", theirs());
    expect([...copied].sort()).toEqual(
      [
        ...[
          "cloudflare_token/token",
          "git_ssh:bot/email",
          "git_ssh:bot/name",
          "git_ssh:bot/private_key",
        ],
        ...["github_token/token", "github_webhook_secret:Acme/secret", "openai_key/key"],
      ].sort(),
    );
    expect(await loadCredential(folders.home, "git_ssh:bot")).toMatchObject({
      fields: {
        name: "Bot",
        email: "bot@example.com",
        private_key: (store["git_ssh/bot/id_rsa"] ?? "").trim(),
      },
    });
    const file = join(folders.home, "credentials/openai_key/default/key");
    expect(readFileSync(file, "utf8").trim()).toBe("sk-0123456789");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const dir of ["credentials", "credentials/openai_key", "credentials/openai_key/default"]) {
      expect(statSync(join(folders.home, dir)).mode & 0o777).toBe(0o700);
    }
    expect(existsSync(join(folders.home, "credentials/linear_token"))).toBe(false);
    expect(edits.filter(({ file: about }) => about === null).map(({ fix }) => fix)).toEqual([
      "al creds add anthropic_key",
      "al creds add sentry_client_secret",
      "al creds add discord_bot",
    ]);
  });

  test("are not copied without consent; the commands that do it are named, and work", async () => {
    writeFiles(join(folders.home, "..", ".action-llama/credentials"), store);
    const { copied, edits } = await imported();
    expect(copied).toEqual([]);
    expect(existsSync(join(folders.home, "credentials"))).toBe(false);
    const commands = edits.filter(({ message }) => message.includes("was not copied"));
    expect(commands.length).toBe(7);
    for (const { fix } of commands) {
      expect(await folders.bash((fix ?? "").replace(/^al /, "$AL "))).toMatchObject({ code: 0 });
    }
    expect(await loadCredential(folders.home, "git_ssh:bot")).toMatchObject({
      fields: { name: "Bot" },
    });
  });

  test("that are here with another value stay", async () => {
    await folders.bash("echo mine-0123456789 | $AL creds add github_token");
    const { copied, edits } = await imported("--credentials", theirs());
    expect(copied).not.toContain("github_token/token");
    expect(await loadCredential(folders.home, "github_token")).toMatchObject({
      fields: { token: "mine-0123456789" },
    });
    expect(edits.find(({ message }) => message.includes("another value"))?.fix).toBe(
      `al creds add github_token --field token --from-file ${theirs()}/github_token/default/token --replace`,
    );
  });
});

describe.skipIf(noTerminal !== null)("on a terminal", () => {
  test("al import asks before it writes, and before it copies", async () => {
    writeFiles(source, frontMatterProject);
    writeFiles(join(folders.home, ".action-llama/credentials"), {
      "anthropic_key/default/token": "sk-ant-0123456789\n",
    });
    const terminal = onTerminal(folders, ["import", source, "--to", target]);
    await terminal.until(/Write .*ours\?/);
    expect(existsSync(target)).toBe(false);
    terminal.line("y");
    await terminal.until("Copy these credentials?");
    terminal.line("y");
    expect(await terminal.ended).toBe(0);
    expect(existsSync(join(target, "agents/reporter/config.toml"))).toBe(true);
    expect(await loadCredential(folders.home, "anthropic_key")).toMatchObject({
      fields: { key: "sk-ant-0123456789" },
    });
  });
});
