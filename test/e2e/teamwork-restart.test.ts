import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import { callOf, commandAgents, latestOf, startAgents, until } from "../helpers/command-agents.ts";
import { runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler;

afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

async function statusTextOf(agent: string): Promise<string | null> {
  const { agents } = (await (await scheduler.api("/control/status")).json()) as StatusSnapshot;
  return agents.find(({ name }) => name === agent)?.statusText ?? null;
}

async function locks(): Promise<unknown> {
  return (await scheduler.api("/locks/status")).json();
}

it("goes on after kill -9 with a lock that is held, a call that is waited for and a wait", async () => {
  project = await commandAgents((dir) => ({
    holder: `rlock demo:x; ${until(`${dir}/go`)}; runlock demo:x && al-return freed`,
    rival: `al-return "$(rlock demo:x)"`,
    caller: `${callOf("worker")}; al-return "$(al-subagent-wait "$id")"`,
    worker: `${until(`${dir}/go`)}; al-return 42`,
    waiter: `al-return "$(wait_for_trigger --kind agent-call --source late)"`,
    late: "echo 'here I am' | al-subagent waiter",
  }));
  scheduler = await startTestScheduler(project);
  expect(await startAgents(scheduler, "holder", "caller", "waiter")).toEqual([202, 202, 202]);
  const held = { locks: [{ resource: "demo:x", agent: "holder" }] };
  const slowly = { timeout: 60_000 };
  const runOf = (agent: string) => latestOf(scheduler, agent);
  await expect.poll(locks, slowly).toMatchObject(held);
  const startOfWorker = async () => (await latestOf(scheduler, "worker", "agent-call"))?.startedAt;
  await expect.poll(startOfWorker, slowly).toBeTypeOf("string");
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
  const done = { outcome: "succeeded", attempt: 1 };
  await expect
    .poll(() => runOf("waiter"), slowly)
    .toMatchObject({
      ...done,
      value: { ok: true, timedOut: false, trigger: { caller: "late", context: "here I am\n" } },
    });
  await writeFile(join(project.dir, "go"), "");
  await expect.poll(() => runOf("holder"), slowly).toMatchObject({ ...done, value: "freed" });
  await expect
    .poll(() => runOf("caller"), slowly)
    .toMatchObject({
      ...done,
      value: { ok: true, calls: [{ agent: "worker", outcome: "succeeded", value: 42 }] },
    });
  expect(await locks()).toEqual({ locks: [] });
}, 240_000);
