import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler;

afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

async function start(example: string): Promise<void> {
  project = await copyProject(`examples/${example}`);
  scheduler = await startTestScheduler(project);
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

async function status(): Promise<StatusSnapshot> {
  return (await (await scheduler.api("/control/status")).json()) as StatusSnapshot;
}

async function history(): Promise<HistoryPage["triggers"]> {
  const answer = await scheduler.api("/api/stats/triggers");
  return ((await answer.json()) as HistoryPage).triggers;
}

describe("examples/hello", () => {
  test("runs by hand and shows its texts, tool calls and usage", async () => {
    await start("hello");
    const { code, stdout, stderr } = await runAl(project, ["run", "hello"]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain("Good to see you");
    expect(stdout).toContain("bash: date");
    expect(stdout).toMatch(/\d+ tokens/);
    expect(stdout).toContain("run succeeded after");
    const [agent] = (await status()).agents;
    expect(agent).toMatchObject({ name: "hello", state: "idle", lastOutcome: "succeeded" });
    expect(agent?.statusText).toBe("said hello");
    expect(agent?.nextRunAt).not.toBeNull();
  });
});

describe("examples/pull-request", () => {
  /** As its README says. */
  async function startWithSecret(): Promise<void> {
    await start("pull-request");
    const file = join(project.dir, "secret.txt");
    writeFileSync(file, "a-secret-of-the-example\n", { mode: 0o600 });
    const add = ["creds", "add", "github_webhook_secret", "--from-file", file];
    expect(await runAl(project, add)).toMatchObject({ code: 0 });
  }
  const send = (event: string, file: string, ...args: string[]) =>
    runAl(project, ["webhook", "send", join(project.dir, file), "-e", event, ...args]);

  test("a pull request starts the reviewer and an issue the other agent, once each", async () => {
    await startWithSecret();
    const sent = ["pull_request", "pull-request-opened.json", "--delivery", "one"] as const;
    expect((await send(...sent)).stdout).toContain("work for review");
    expect((await send(...sent)).stdout).toContain("a duplicate");
    expect((await send("issues", "issue-opened.json")).stdout).toContain("work for triage");
    const ended = { kind: "webhook", action: "opened", outcome: "succeeded" };
    await expect.poll(history, { timeout: 20_000 }).toMatchObject([
      { agent: "triage", event: "issues", ...ended },
      { agent: "review", event: "pull_request", ...ended },
    ]);
    const { stdout } = await runAl(project, ["logs", "review"]);
    expect(stdout).toContain("Update the README with new information.");
  });

  test("a delivery signed with another secret starts nothing", async () => {
    await startWithSecret();
    const body = readFileSync(join(project.dir, "issue-opened.json"));
    const refused = await fetch(`${scheduler.url}/webhooks/github`, {
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
    expect((await history()).filter(({ agent }) => agent !== null)).toEqual([]);
  });
});

describe("examples/deploy", () => {
  /** What a proxy on this machine would send. */
  const through = async (
    host: string,
  ): Promise<{ status: number; location: string | undefined }> => {
    const { port } = new URL(scheduler.url);
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

  test("is served under the name of its proxy, and runs", async () => {
    await start("deploy");
    expect(await through("al.example.org")).toMatchObject({
      status: 302,
      location: expect.stringMatching(/^\/login/) as string,
    });
    expect((await through("other.example.org")).status).toBeGreaterThanOrEqual(400);
    expect(await runAl(project, ["run", "nightly"])).toMatchObject({ code: 0 });
  });
});

describe("examples/budget", () => {
  test("the run waits at its cap, and returns all that it wrote once the cap is raised", async () => {
    await start("budget");
    const run = runAl(project, ["run", "writer", "--json"]);
    const [text, all] = [async () => (await status()).agents[0]?.statusText, { timeout: 60_000 }];
    await expect.poll(text, all).toMatch(/^waits for money until .*\(\$3\.\d\d of \$4\.00\)/);
    await runAl(project, ["budget", "raise", "writer", "5"]);
    const { code, stdout } = await run;
    expect(code).toBe(0);
    const { value } = JSON.parse(stdout) as { readonly value: string };
    expect(value.split("\n")).toHaveLength(8);
  }, 120_000);
});

describe("examples/hot-reload", () => {
  const files = () => {
    const dir = join(project.dir, "agents/tick");
    return readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), "utf8")]);
  };

  test("edits take effect, an invalid one is shown with its place, and the other agent is unaffected", async () => {
    await start("hot-reload");
    const before = files();
    const neighbour = (await status()).agents.find(({ name }) => name === "tock");
    expect(await runScript("edit.mjs", "2")).toMatchObject({ code: 0 });
    const { output, waitForOutput } = scheduler;
    await waitForOutput(/schedule "\*\/2 \* \* \* \*" → "\* \* \* \* \*"/);
    expect(output()).toMatch(/agents\/tick\/config\.toml:\d+:\d+.*every day/);
    const after = (await status()).agents;
    expect(after.find(({ name }) => name === "tick")).toMatchObject({ error: null });
    expect(after.find(({ name }) => name === "tock")?.nextRunAt).toBe(neighbour?.nextRunAt);
    expect(files()).toEqual(before);
  });

  test("edits that are interrupted leave the files as they were", async () => {
    await start("hot-reload");
    const before = files();
    const child = spawn(process.execPath, [join(project.dir, "edit.mjs"), "60"]);
    child.stdout.once("data", () => child.kill("SIGINT"));
    expect(await new Promise((done) => child.on("close", done))).toBe(130);
    expect(files()).toEqual(before);
  });
});
