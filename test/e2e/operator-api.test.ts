import { createHmac, randomUUID } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { HistoryEntry, HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { ReceiptView, ReplayResult } from "../../src/foundation/contracts/operator-api.ts";
import { regenerateApiKey } from "../../src/foundation/credentials/api-key.ts";
import { readStream } from "../interfaces/gateway/event-stream.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const secret = "the-secret-of-the-deliveries";
let project: TestProject;
let scheduler: TestScheduler | null = null;

afterEach(async () => {
  await scheduler?.kill();
  scheduler = null;
  await project.remove();
});

/** The webhook example, its runs lasting as long as the file `hold` is there. */
async function startHeld(): Promise<TestScheduler> {
  project = await copyProject("examples/webhook");
  const path = join(project.home, "credentials/github_webhook_secret/default/secret");
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, secret, { mode: 0o600 });
  const hold = join(project.dir, "hold");
  await writeFile(hold, "");
  const command = `while [ -e ${hold} ]; do sleep 0.05; done`;
  const tools = `[[turns.tools]]\nname = "bash"\narguments = { command = "${command}" }`;
  const script = `[[turns]]\n${tools}\n\n[[turns]]\ntext = "done"\n`;
  await writeFile(join(project.dir, "triage.script.toml"), script);
  const config = join(project.dir, "agents/triage/config.toml");
  await writeFile(config, `maxWorkQueueSize = 1\n${await readFile(config, "utf8")}`);
  scheduler = await startTestScheduler(project);
  return scheduler;
}

function letGo(): Promise<void> {
  return rm(join(project.dir, "hold"));
}

async function deliver(repo = "Codertocat/Hello-World"): Promise<string> {
  const body = JSON.stringify({
    action: "opened",
    issue: { number: 1, title: "It is broken" },
    repository: { full_name: repo },
    sender: { login: "somebody" },
    hook: { config: { secret: "hush", note: `signed with ${secret}` } },
  });
  const headers = {
    "content-type": "application/json",
    "x-github-event": "issues",
    "x-github-delivery": randomUUID(),
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  };
  const url = `${scheduler?.url ?? ""}/webhooks/github`;
  const answer = await fetch(url, { method: "POST", headers, body });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { receiptId: string }).receiptId;
}

async function history(query = ""): Promise<readonly HistoryEntry[]> {
  const answer = await scheduler?.api(`/api/stats/triggers?${query}`);
  return ((await answer?.json()) as HistoryPage).triggers;
}

describe("a delivery whose work was dropped from a full queue", () => {
  test("is a dead letter that al replay brings to its end", async () => {
    await startHeld();
    const running = await deliver();
    await expect.poll(async () => (await history())[0]?.startedAt).toBeTypeOf("string");
    const dropped = await deliver();
    const waiting = await deliver();
    const letter = { receiptId: dropped, outcome: "dropped", reason: "queue_full" };
    await expect.poll(() => history("deadLetter=true")).toMatchObject([letter]);

    await letGo();
    await expect.poll(() => history("outcome=succeeded"), { timeout: 20_000 }).toHaveLength(2);
    const replayed = await runAl(project, ["replay", dropped, "--json"]);
    expect(replayed).toMatchObject({ code: 0, stderr: "" });
    const { matched } = JSON.parse(replayed.stdout) as ReplayResult;
    expect(matched).toMatchObject([{ agent: "triage", outcome: "started" }]);
    await expect.poll(() => history("outcome=succeeded"), { timeout: 20_000 }).toHaveLength(3);
    const [latest, ...earlier] = await history("outcome=succeeded");
    expect(latest).toMatchObject({ receiptId: dropped, id: matched[0]?.triggerId });
    expect(latest?.instanceId).toBe(matched[0]?.instanceId);
    expect(earlier.map(({ receiptId }) => receiptId)).toEqual([waiting, running]);
    expect(await history("deadLetter=true")).toHaveLength(1);
  });
});

describe("a delivery that matched nobody", () => {
  test("says what came closest, can be looked at without its secrets, and run for one agent", async () => {
    await startHeld();
    const receiptId = await deliver("acme/other");
    const reason = "agent triage: repos does not include acme/other";
    expect(await history("deadLetter=true")).toMatchObject([{ agent: null, receiptId, reason }]);

    const view = await scheduler?.api(`/api/stats/webhooks/${receiptId}`);
    const receipt = (await view?.json()) as ReceiptView;
    expect(receipt).toMatchObject({
      type: "github",
      source: "github",
      payload: {
        action: "opened",
        hook: { config: { secret: "[redacted]", note: "signed with [redacted]" } },
      },
    });
    expect(JSON.stringify(receipt)).not.toContain("x-hub-signature");

    const again = await runAl(project, ["replay", receiptId]);
    expect(again).toMatchObject({ code: 1, stdout: "", stderr: `nothing ran: ${reason}\n` });
    const one = await runAl(project, ["replay", receiptId, "--agent", "triage"]);
    expect(one.stdout).toMatch(/^triage started: triage-[a-z2-7]{8}\n$/);
    expect((await runAl(project, ["replay", receiptId, "-a", "triag"])).stderr).toContain(
      'did you mean "triage"?',
    );
    await letGo();
    await expect.poll(() => history("outcome=succeeded"), { timeout: 20_000 }).toHaveLength(1);
  });

  test("says so when an agent could not be asked because of its config", async () => {
    await startHeld();
    await mkdir(join(project.dir, "agents/broken"), { recursive: true });
    await writeFile(join(project.dir, "agents/broken/SKILL.md"), "Do it.");
    const config = 'models = 5\n[[webhooks]]\nsource = "github"\n';
    await writeFile(join(project.dir, "agents/broken/config.toml"), config);
    await scheduler?.waitForOutput(/broken/);
    await deliver("acme/other");
    const [letter] = await history("deadLetter=true");
    expect(letter?.reason).toContain("with an invalid config, so not asked: agent broken");
  });
});

describe("the metrics", () => {
  test("tell runs, deliveries, drops and what waits", async () => {
    await startHeld();
    await deliver();
    await expect.poll(async () => (await history())[0]?.startedAt).toBeTypeOf("string");
    await deliver();
    await deliver();
    await deliver("acme/other");
    const metrics = async () => await (await scheduler?.api("/metrics"))?.text();
    await expect.poll(metrics).toContain('almanac_queue_depth{agent="triage"} 1\n');
    expect(await metrics()).toContain('almanac_queue_dropped_total{agent="triage"} 1\n');
    expect(await metrics()).toContain('source="github",result="accepted"} 3\n');
    expect(await metrics()).toContain('source="github",result="unmatched"} 1\n');
    await letGo();
    await expect
      .poll(metrics, { timeout: 20_000 })
      .toContain('almanac_runs_total{agent="triage",outcome="succeeded"} 2\n');
  });
});

describe("a key that is made anew", () => {
  test("ends the sessions and streams of the old one within two seconds, and commands go on", async () => {
    project = await copyProject("examples/hello");
    scheduler = await startTestScheduler(project);
    const { url, apiKey } = scheduler;
    const json = { "content-type": "application/json" };
    const body = JSON.stringify({ key: apiKey });
    const login = await fetch(`${url}/login`, { method: "POST", headers: json, body });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const path = `${url}/dashboard/api/status-stream`;
    const old = { authorization: `Bearer ${apiKey}` };
    const streams = [await readStream(path, { cookie }), await readStream(path, old)];
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);

    const { key } = await regenerateApiKey(project.home);
    for (const stream of streams) {
      await expect.poll(() => stream.isEnded(), { timeout: 2_500 }).toBe(true);
    }
    const statusWith = async (headers: Record<string, string>) =>
      (await fetch(`${url}/control/status`, { headers })).status;
    expect(await statusWith(old)).toBe(401);
    expect(await statusWith({ cookie })).toBe(401);
    expect(await statusWith({ authorization: `Bearer ${key}` })).toBe(200);
    expect(await runAl(project, ["stat"])).toMatchObject({ code: 0 });
    expect(scheduler.output()).toContain("the API key changed");
    expect(scheduler.output()).not.toContain(key);
  });
});

test("the next command is not refused after al doctor made the key anew", async () => {
  project = await copyProject("examples/hello");
  scheduler = await startTestScheduler(project);
  const made = await runAl(project, ["doctor", "--regenerate-key"]);
  expect(made.stdout).toContain("sessions and streams of the old one are over");
  expect(await runAl(project, ["stat"])).toMatchObject({ code: 0 });
});

test("a password from before the API key is warned of, and its value is not told", async () => {
  project = await copyProject("examples/hello");
  scheduler = await startTestScheduler(project, { env: { AL_DASHBOARD_SECRET: "hush-hush" } });
  await scheduler.waitForOutput(/WARN .*AL_DASHBOARD_SECRET is set and no longer used/);
  expect(scheduler.output()).not.toContain("hush-hush");
  const basic = { authorization: `Basic ${Buffer.from("admin:hush-hush").toString("base64")}` };
  expect((await fetch(`${scheduler.url}/control/status`, { headers: basic })).status).toBe(401);
});
