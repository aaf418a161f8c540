import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { HistoryEntry, HistoryPage } from "../../src/contracts/history.ts";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler;

beforeEach(async () => {
  project = await copyProject("examples/teamwork");
  for (const name of ["writer", "reviewer"]) {
    await rm(join(project.dir, "agents", name), { recursive: true });
  }
});
afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

/** An agent whose run is one command of its shell. */
async function addAgent(name: string, command: string): Promise<void> {
  const dir = join(project.dir, "agents", name);
  await mkdir(dir);
  const runtime = `[runtime]\ntype = "host-user"\nrun_as = "$USER"\n`;
  await writeFile(
    join(dir, "config.toml"),
    `models = ["${name}"]\ncredentials = []\nschedule = "0 0 29 2 *"\ntimeout = 120\n${runtime}`,
  );
  await writeFile(join(dir, "SKILL.md"), "Do it.\n");
  const tool = `name = "bash"\narguments = { command = ${JSON.stringify(command)} }`;
  await writeFile(
    join(project.dir, `${name}.script.toml`),
    `[[turns]]\n[[turns.tools]]\n${tool}\n\n[[turns]]\ntext = "done"\n`,
  );
}

async function history(): Promise<readonly HistoryEntry[]> {
  const answer = await scheduler.api("/api/stats/triggers");
  return ((await answer.json()) as HistoryPage).triggers;
}

const runOf = async (agent: string) => (await history()).findLast((entry) => entry.agent === agent);

async function statusTextOf(agent: string): Promise<string | null> {
  const { agents } = (await (await scheduler.api("/control/status")).json()) as StatusSnapshot;
  return agents.find(({ name }) => name === agent)?.statusText ?? null;
}

async function locks(): Promise<unknown> {
  return (await scheduler.api("/locks/status")).json();
}

it("goes on after kill -9 with a lock that is held, a call that is waited for and a wait", async () => {
  const go = join(project.dir, "go");
  const untilGo = `while [ ! -e '${go}' ]; do sleep 0.1; done`;
  const agents = {
    holder: `rlock demo:x; ${untilGo}; runlock demo:x && al-return freed`,
    rival: `al-return "$(rlock demo:x)"`,
    caller: `id=$(echo hi | al-subagent worker | sed 's/.*"callId":"\\([^"]*\\)".*/\\1/'); al-return "$(al-subagent-wait "$id")"`,
    worker: `${untilGo}; al-return 42`,
    waiter: `al-return "$(wait_for_trigger --kind agent-call --source late)"`,
    late: "echo 'here I am' | al-subagent waiter",
  };
  for (const [name, command] of Object.entries(agents)) await addAgent(name, command);
  const models = Object.keys(agents).map(
    (name) => `[models.${name}]\nprovider = "scripted"\nscript = "${name}.script.toml"\n`,
  );
  await writeFile(join(project.dir, "config.toml"), models.join("\n"));
  scheduler = await startTestScheduler(project);
  for (const name of ["holder", "caller", "waiter"]) {
    const { status } = await scheduler.api(`/control/trigger/${name}`, { method: "POST" });
    expect(status).toBe(202);
  }
  const held = { locks: [{ resource: "demo:x", agent: "holder" }] };
  const slowly = { timeout: 60_000 };
  await expect.poll(locks, slowly).toMatchObject(held);
  await expect.poll(async () => (await runOf("worker"))?.startedAt, slowly).toBeTypeOf("string");
  await expect.poll(() => statusTextOf("waiter"), slowly).toMatch(/wait/);
  await expect.poll(() => statusTextOf("caller"), slowly).toMatch(/wait/);

  await scheduler.kill();
  scheduler = await startTestScheduler(project);

  expect(await locks()).toMatchObject(held);
  const rival = await runAl(project, ["run", "rival", "--json"]);
  expect(JSON.parse(rival.stdout)).toMatchObject({
    value: { ok: false, error: "held", holder: { agent: "holder" } },
  });
  await runAl(project, ["run", "late", "--json"]);
  await expect
    .poll(() => runOf("waiter"), slowly)
    .toMatchObject({
      ...{ outcome: "succeeded", attempt: 1 },
      value: { ok: true, timedOut: false, trigger: { caller: "late", context: "here I am\n" } },
    });
  await writeFile(go, "");
  await expect
    .poll(() => runOf("holder"), slowly)
    .toMatchObject({
      ...{ outcome: "succeeded", attempt: 1, value: "freed" },
    });
  await expect
    .poll(() => runOf("caller"), slowly)
    .toMatchObject({
      ...{ outcome: "succeeded", attempt: 1 },
      value: { ok: true, calls: [{ agent: "worker", outcome: "succeeded", value: 42 }] },
    });
  expect(await locks()).toEqual({ locks: [] });
}, 240_000);
