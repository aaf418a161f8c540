import { execFile, execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { whyNoOsUsers } from "../helpers/os-users.ts";
import { fakeProvider, saying } from "../runtime/harness/fake-provider.ts";
import { standIn } from "../runtime/harness/llm-cli/stand-in.ts";
import { claudeStream, codexStream } from "../runtime/harness/llm-cli/streams.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";
import { outsideGit } from "./outside-git.ts";
import { openQuestions } from "./asking-project.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";

vi.setConfig({ testTimeout: 120_000 });
const noUsers = whyNoOsUsers();
const noNetwork = whyNoNetwork();
for (const why of [noUsers, noNetwork]) noteSkipped("some of the examples", why);

async function started(example: string): Promise<LiveProject> {
  const project = await LiveProject.copy(`examples/${example}`);
  await project.start();
  return project;
}

test("examples/pull-request starts one agent for each webhook delivery, once", async () => {
  const project = await started("pull-request");
  await project.write("secret.txt", "a-secret-of-the-example\n");
  const secret = ["creds", "add", "github_webhook_secret", "--from-file"];
  await project.print(...secret, project.path("secret.txt"));
  const send = (event: string, file: string) =>
    project.print("webhook", "send", project.path(file), "-e", event, "--delivery", event);
  const sent = ["pull_request", "pull-request-opened.json"] as const;
  expect(await send(...sent)).toContain("work for review");
  expect(await send(...sent)).toContain("a duplicate");
  expect(await send("issues", "issue-opened.json")).toContain("work for triage");
  const ended = { kind: "webhook", action: "opened", outcome: "succeeded" };
  const ofAgents = async () => (await project.history()).filter(({ agent }) => agent !== null);
  await expect.poll(ofAgents, slowly).toMatchObject([
    { agent: "triage", event: "issues", ...ended },
    { agent: "review", event: "pull_request", ...ended },
  ]);
  const log = await project.print("logs", "review");
  expect(log).toContain("Update the README with new information.");
});

/** Answers an agent's question once it is asked; its prompt. */
async function answer(project: LiveProject, agent: string, given: string): Promise<string> {
  const asked = async () => (await openQuestions(project)).get(agent);
  await expect.poll(asked, slowly).toBeDefined();
  const { id = "", prompt = "" } = (await asked()) ?? {};
  await project.print("answer", id, given);
  return prompt;
}

test.skipIf(noNetwork !== null)(
  "examples/code changes a checkout of its repository without a key, and pushes its branch with a token",
  async () => {
    const token = "token-of-the-example";
    const { repository, env } = await outsideGit("github.com", "octocat/Hello-World.git", [
      "",
      token,
    ]);
    const project = await LiveProject.copy("examples/code");
    await project.start({ env });
    expect(await project.print("run", "coder")).toMatch(
      /[0-9a-f]{7} begin[^]*Add notes[^]*NOTES \| 1 \+[^]*without a token, the branch stays here/,
    );
    await project.store("github_token", { token });
    await project.edit(
      "agents/coder/config.toml",
      "credentials = []",
      'credentials = ["github_token"]',
    );
    await project.scheduler.waitForOutput(/credentials/);
    await project.print("run", "coder");
    expect(repository.subjects("al/notes")).toEqual(["Add notes", "begin"]);
  },
);

test("examples/mcp calls an MCP program's tool in the run once a person allows it", async () => {
  const project = await started("mcp");
  const run = project.al("run", "librarian", "--json");
  expect(await answer(project, "librarian", "once")).toBe(
    'librarian wants to call the tool library.borrow_book: {"id":7}',
  );
  expect(JSON.parse((await run).stdout)).toMatchObject({ outcome: "succeeded", value: "borrowed" });
  expect((await project.messages("librarian", "mcp")).join("\n")).toMatch(
    /library\.find_book: done[^]*library\.borrow_book: done/,
  );
});

test("examples/approval holds a call until a person allows it, and its run asks before it acts", async () => {
  const project = await started("approval");
  for (const [given, value] of [
    ["yes", "deployed"],
    ["no", "not deployed"],
  ] as const) {
    const run = project.al("run", "release");
    expect(await answer(project, "release", "once")).toContain("deployer");
    expect(await answer(project, "deployer", given)).toContain("Deploy 1.4");
    expect((await run).code).toBe(0);
    const deployed = { outcome: "succeeded", value };
    expect(await project.latest("deployer", "agent-call")).toMatchObject(deployed);
  }
});

test("the failed run of examples/debug is explained by its diff, and succeeds when it is replayed after the fix", async () => {
  const project = await started("debug");
  const config = "agents/totals/config.toml";
  await project.print("run", "totals");
  await project.edit(config, "prices.txt", "price.txt");
  await project.scheduler.waitForOutput(/hooks changed/);
  expect((await project.al("run", "totals")).code).toBe(1);
  expect(await project.print("show", "totals", "--diff")).toMatch(
    /- .*prices\.txt[^]*\+ .*price\.txt/,
  );
  await project.edit(config, "price.txt", "prices.txt");
  await project.scheduler.waitForOutput(/hooks changed[^]*hooks changed/);
  await project.print("replay", (await project.latest("totals"))?.id ?? "");
  await expect.poll(() => project.latest("totals"), slowly).toMatchObject({ value: 42 });
});

test("examples/secrets gives its agent a known secret and one of its own, and the log shows neither", async () => {
  const project = await LiveProject.copy("examples/secrets");
  await project.store("database_url", { url: "postgres://me:pass@db/app" });
  await project.store("acme", { api_key: "key-of-acme" });
  await project.start();
  expect(await project.print("run", "report")).toMatch(
    /DATABASE_URL has 25 characters: \[redacted\]\s+ACME_API_KEY has 11 characters: \[redacted\]/,
  );
});

test("examples/hot-reload edits its agent: edits take effect, an invalid edit is shown, and the files are restored", async () => {
  const project = await started("hot-reload");
  const files = async () => {
    const names = await readdir(project.path("agents/tick"));
    return Promise.all(names.map((name) => project.read(`agents/tick/${name}`)));
  };
  const [before, neighbour] = [await files(), await project.agent("tock")];
  await promisify(execFile)(process.execPath, [project.path("edit.mjs"), "2"]);
  const { output, waitForOutput } = project.scheduler;
  await waitForOutput(/schedule "\*\/2 \* \* \* \*" → "\* \* \* \* \*"/);
  expect(output()).toMatch(/agents\/tick\/config\.toml:\d+:\d+.*every day/);
  expect(await project.agent("tick")).toMatchObject({ error: null });
  expect((await project.agent("tock"))?.nextRunAt).toBe(neighbour?.nextRunAt);
  expect(await files()).toEqual(before);
});

test.skipIf(noUsers !== null)(
  "examples/host-user runs as another OS user, without a port, and does not build its Dockerfile",
  async () => {
    const exists = (await readFile("/etc/passwd", "utf8")).includes("\nal-agent:");
    if (!exists) {
      execFileSync("useradd", ["--system", "--shell", "/usr/sbin/nologin", "al-agent"]);
      onTestFinished(() => void execFileSync("userdel", ["al-agent"]));
    }
    const project = await LiveProject.copy("examples/host-user");
    await project.write("agents/outsider/Dockerfile", "FROM no/such:image\n");
    expect(await project.start({ webUi: false })).toMatchObject({ url: "" });
    expect(await project.print("run", "outsider")).toMatch(
      /I am al-agent, working in \/tmp\/al-runs\/outsider-[^]*run succeeded/,
    );
  },
);

test("the agents of examples/teamwork call each other and share a lock", async () => {
  const project = await started("teamwork");
  await project.print("run", "writer");
  const short = async () =>
    (await project.history()).map(({ agent, kind, caller, outcome }) =>
      [agent, kind, caller?.replace(/-[a-z2-7]{8}$/, ""), outcome].join(" "),
    );
  await expect
    .poll(short, slowly)
    .toEqual([
      "writer agent-call reviewer succeeded",
      "reviewer agent-call writer succeeded",
      "writer manual  succeeded",
    ]);
  const [callBack, review, writing] = await project.history();
  const { instanceId, value } = writing ?? {};
  expect(value).toEqual({ published: "Agents can work together now." });
  const reason = expect.stringContaining("waited for it") as string;
  expect(callBack).toMatchObject({ instanceId, deadLetter: false, reason });
  expect(review).toMatchObject({ caller: instanceId, value: { words: 5 } });
  expect(await project.json("/locks/status")).toEqual({ locks: [] });
});

test("examples/local-model calls a local server without a key", async () => {
  const server = await fakeProvider(saying("It is noon."));
  onTestFinished(() => server.close());
  const project = await LiveProject.copy("examples/local-model");
  await project.edit("config.toml", "http://localhost:11434/v1", server.baseUrl);
  await project.start();
  expect(await project.print("run", "helper")).toContain("It is noon.");
  expect(server.requests[0]).toMatchObject({
    path: "/v1/chat/completions",
    authorization: "",
    body: { model: "qwen3:8b" },
  });
});

test.each([
  ["claude", "anthropic_key", claudeStream],
  ["codex", "openai_key", codexStream],
] as const)("the agent of examples/llm-cli runs with %s", async (program, key, stream) => {
  const project = await LiveProject.copy("examples/llm-cli");
  await project.store(key, { key: "sk-of-the-example" });
  const cli = await standIn(project.dir, program, { stream });
  await project.start({ env: { PATH: cli.path } });
  expect(await project.print("run", `with-${program}`)).toContain("Looking.");
  expect(JSON.stringify(await cli.env())).not.toContain("sk-of-the-example");
});
