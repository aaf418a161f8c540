import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { forAll, LiveProject, slowly } from "../helpers/live-project.ts";

let project: LiveProject;

async function start(example: string): Promise<void> {
  project = await LiveProject.copy(`examples/${example}`);
  await project.start();
}

/** Runs a script of the example as its README says. */
function runScript(
  name: string,
  ...args: string[]
): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(process.execPath, [join(project.dir, name), ...args], {
    env: { ...process.env, AL_HOME: project.home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  return new Promise((done) => child.on("close", (code) => done({ code, stdout })));
}

test("examples/hello runs by hand and shows its texts, tool calls and usage", async () => {
  await start("hello");
  const stdout = await project.print("run", "hello");
  expect(stdout).toContain("Good to see you");
  expect(stdout).toContain("bash: date");
  expect(stdout).toMatch(/\d+ tokens/);
  expect(stdout).toContain("run succeeded after");
  const agent = await project.agent("hello");
  expect(agent).toMatchObject({ state: "idle", lastOutcome: "succeeded" });
  expect(agent?.statusText).toBe("said hello");
  expect(agent?.nextRunAt).not.toBeNull();
});

describe("examples/pull-request", () => {
  /** As its README says. */
  forAll(async () => {
    await start("pull-request");
    const file = join(project.dir, "secret.txt");
    writeFileSync(file, "a-secret-of-the-example\n", { mode: 0o600 });
    await project.print("creds", "add", "github_webhook_secret", "--from-file", file);
  });
  const send = (event: string, file: string, ...args: string[]) =>
    project.al("webhook", "send", project.path(file), "-e", event, ...args);
  const ofAgents = async () => (await project.history()).filter(({ agent }) => agent !== null);

  test("a delivery signed with another secret starts nothing", async () => {
    const body = readFileSync(join(project.dir, "issue-opened.json"));
    const refused = await fetch(`${project.scheduler.url}/webhooks/github`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-github-event": "issues",
        "x-github-delivery": "one",
        "x-hub-signature-256": `sha256=${createHmac("sha256", "wrong").update(body).digest("hex")}`,
      },
      body: new Uint8Array(body),
    });
    expect(refused.status).toBe(401);
    expect(await ofAgents()).toEqual([]);
  });

  test("a pull request starts the reviewer and an issue the other agent, once each", async () => {
    const sent = ["pull_request", "pull-request-opened.json", "--delivery", "one"] as const;
    expect((await send(...sent)).stdout).toContain("work for review");
    expect((await send(...sent)).stdout).toContain("a duplicate");
    expect((await send("issues", "issue-opened.json")).stdout).toContain("work for triage");
    const ended = { kind: "webhook", action: "opened", outcome: "succeeded" };
    await expect.poll(ofAgents, { timeout: 20_000 }).toMatchObject([
      { agent: "triage", event: "issues", ...ended },
      { agent: "review", event: "pull_request", ...ended },
    ]);
    expect(await project.print("logs", "review")).toContain(
      "Update the README with new information.",
    );
  });
});

/** Sends a request as a proxy on this machine would. */
const through = async (host: string): Promise<{ status: number; location: string | undefined }> => {
  const { port } = new URL(project.scheduler.url);
  const headers = {
    host,
    accept: "text/html",
    "x-forwarded-for": "198.51.100.7",
    "x-forwarded-proto": "https",
  };
  const sent = request({ host: "127.0.0.1", port, path: "/dashboard", headers }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  return { status: response.statusCode ?? 0, location: response.headers.location };
};

test("examples/deploy is served under the name of its proxy, and runs", async () => {
  await start("deploy");
  expect(await through("al.example.org")).toMatchObject({
    status: 302,
    location: expect.stringMatching(/^\/login/) as string,
  });
  expect((await through("other.example.org")).status).toBeGreaterThanOrEqual(400);
  await project.print("run", "nightly");
});

test("the run waits at its cap, and returns all that it wrote once the cap is raised", async () => {
  await start("budget");
  const run = project.al("run", "writer", "--json");
  const text = async () => (await project.agent("writer"))?.statusText;
  await expect.poll(text, slowly).toMatch(/^waits for money until .*\(\$3\.\d\d of \$4\.00\)/);
  await project.print("budget", "raise", "writer", "5");
  const { code, stdout } = await run;
  expect(code).toBe(0);
  const { value } = JSON.parse(stdout) as { readonly value: string };
  expect(value.split("\n")).toHaveLength(8);
}, 120_000);

test("a tool of a local server is held, and called once a person allows it", async () => {
  await start("mcp");
  const run = project.al("run", "librarian", "--json");
  const open = async () => {
    const { questions } = await project.json<{ questions: { id: string; prompt: string }[] }>(
      "/api/questions?state=open",
    );
    return questions[0];
  };
  await expect.poll(open, slowly).toMatchObject({
    prompt: 'librarian wants to call the tool library.borrow_book: {"id":7}',
  });
  await project.print("answer", (await open())?.id ?? "", "once");
  const { code, stdout } = await run;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "succeeded", value: "borrowed" });
  expect((await project.messages("librarian", "mcp")).join("\n")).toMatch(
    /library\.find_book: done[^]*library\.borrow_book: done/,
  );
}, 60_000);

/** The id of the open question of this kind. */
const question = async (kind: string): Promise<string> => {
  const page = await project.json<{ questions: { id: string; kind: string }[] }>(
    "/api/questions?state=open",
  );
  return page.questions.find((one) => one.kind === kind)?.id ?? "";
};
const answer = async (kind: string, given: string): Promise<void> => {
  await expect.poll(() => question(kind), slowly).not.toBe("");
  expect(await project.print("questions")).toContain(kind === "call" ? "deployer" : "Deploy 1.4");
  await project.print("answer", await question(kind), given);
};

describe("examples/approval", () => {
  forAll(() => start("approval"));

  test.each([
    ["yes", "deployed"],
    ["no", "not deployed"],
  ])(
    "a call is held, and its run asks before it acts: %s",
    async (given, value) => {
      const run = project.al("run", "release");
      await answer("call", "once");
      await answer("ask", given);
      expect((await run).code).toBe(0);
      expect(await project.latest("deployer", "agent-call")).toMatchObject({
        outcome: "succeeded",
        value,
      });
      expect(await project.print("audit")).toContain("once");
    },
    120_000,
  );
});

const files = () => {
  const dir = join(project.dir, "agents/tick");
  return readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), "utf8")]);
};

test("edits take effect, an invalid one is shown with its place, and the other agent is unaffected", async () => {
  await start("hot-reload");
  const before = files();
  const neighbour = await project.agent("tock");
  expect(await runScript("edit.mjs", "2")).toMatchObject({ code: 0 });
  const { output, waitForOutput } = project.scheduler;
  await waitForOutput(/schedule "\*\/2 \* \* \* \*" → "\* \* \* \* \*"/);
  expect(output()).toMatch(/agents\/tick\/config\.toml:\d+:\d+.*every day/);
  expect(await project.agent("tick")).toMatchObject({ error: null });
  expect((await project.agent("tock"))?.nextRunAt).toBe(neighbour?.nextRunAt);
  expect(files()).toEqual(before);
});

test("edits that are interrupted leave the files as they were", async () => {
  project = await LiveProject.copy("examples/hot-reload");
  const before = files();
  const child = spawn(process.execPath, [join(project.dir, "edit.mjs"), "60"]);
  child.stdout.once("data", () => child.kill("SIGINT"));
  expect(await new Promise((done) => child.on("close", done))).toBe(130);
  expect(files()).toEqual(before);
});
