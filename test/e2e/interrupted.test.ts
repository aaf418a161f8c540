import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HistoryEntry, HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { ReplayResult } from "../../src/foundation/contracts/operator-api.ts";
import { openStore } from "../../src/foundation/store/store.ts";
import type { WorkItem } from "../../streams/vocabulary.ts";
import { anAgent, anItem } from "../helpers/agents.ts";
import { callOf, commandAgents, startAgents, until } from "../helpers/command-agents.ts";
import { runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";
import { beginRun } from "../foundation/store/support.ts";

let project: TestProject;
let scheduler: TestScheduler | null;

beforeEach(async () => {
  scheduler = null;
  project = await commandAgents((dir) => ({
    waits: until(join(dir, "go")),
    callee: until(join(dir, "go")),
    caller: `${callOf("callee")}; ${until(join(dir, "go"))}`,
  }));
});
afterEach(async () => {
  await scheduler?.kill();
  await project.remove();
});

async function start(graceSeconds: number): Promise<TestScheduler> {
  scheduler = await startTestScheduler(project, { args: ["--grace", String(graceSeconds)] });
  return scheduler;
}

/** Lets every run come to its end. */
const letGo = (): Promise<void> => writeFile(join(project.dir, "go"), "");

/** The history of an agent, oldest first. */
async function historyOf(from: TestScheduler, agent: string): Promise<readonly HistoryEntry[]> {
  const answer = await from.api(`/api/stats/triggers?agent=${agent}`);
  return ((await answer.json()) as HistoryPage).triggers.toReversed();
}

async function triesOf(from: TestScheduler, agent: string): Promise<readonly unknown[]> {
  const entries = await historyOf(from, agent);
  return entries.map(({ kind, attempt, outcome }) => `${kind} ${attempt} ${String(outcome)}`);
}

/** A run that is in its session, with the process that keeps it. */
async function runOf(
  from: TestScheduler,
  agent: string,
): Promise<{ instanceId: string; pid: number }> {
  const instanceId = await expect
    .poll(async () => (await historyOf(from, agent)).at(-1)?.instanceId ?? null)
    .not.toBeNull()
    .then(async () => (await historyOf(from, agent)).at(-1)?.instanceId ?? "");
  const log = `/tmp/al-runs/${instanceId}.log`;
  await expect.poll(() => readFileSync(log, "utf8"), { timeout: 20_000 }).toContain('"tool"');
  const [, record = ""] = / run (\{.*\})$/m.exec(readFileSync(log, "utf8")) ?? [];
  return { instanceId, pid: (JSON.parse(record) as { process: { pid: number } }).process.pid };
}

test("a run that a stop of the scheduler ended is interrupted, tried once more, and al run ends with 143", async () => {
  const first = await start(1);
  const watched = runAl(project, ["run", "waits"]);
  await runOf(first, "waits");
  expect(await first.stop()).toBe(0);
  const { code, stderr } = await watched;
  expect([code, stderr]).toEqual([143, expect.stringMatching(/interrupted after/)]);

  const second = await start(1);
  expect(await triesOf(second, "waits")).toEqual(["manual 1 interrupted", "manual 2 null"]);
  const [entry] = await historyOf(second, "waits");
  expect(entry).toMatchObject({ exitCode: 143, deadLetter: false });
  expect(entry?.reason).toContain("tried once more at the next start");
  await runOf(second, "waits");
  await second.stop();

  await letGo();
  const third = await start(1);
  expect(await triesOf(third, "waits")).toEqual(["manual 1 interrupted", "manual 2 interrupted"]);
  expect((await historyOf(third, "waits")).at(-1)).toMatchObject({ deadLetter: true });
});

test("a run that a person killed while the scheduler stops stays killed", async () => {
  const first = await start(30);
  const { instanceId } = await runOf(first, await started(first, "waits"));
  first.signal("SIGTERM");
  await first.waitForOutput(/stopping/);
  expect(await runAl(project, ["kill", instanceId])).toMatchObject({ code: 0 });
  await first.exited;
  expect(await triesOf(await start(1), "waits")).toEqual(["manual 1 killed"]);
});

test("a run that a machine ends while it shuts down is interrupted, though both get TERM at once", async () => {
  const first = await start(30);
  const { pid } = await runOf(first, await started(first, "waits"));
  first.signal("SIGTERM");
  await first.waitForOutput(/stopping/);
  process.kill(pid, "SIGTERM");
  expect(await first.exited).toBe(0);
  await letGo();
  const second = await start(1);
  await expect
    .poll(() => triesOf(second, "waits"), { timeout: 20_000 })
    .toEqual(["manual 1 interrupted", "manual 2 succeeded"]);
});

test("a run that ended while its scheduler was killed in the middle of a stop is tried once, not twice", async () => {
  const first = await start(30);
  const { instanceId, pid } = await runOf(first, await started(first, "waits"));
  first.signal("SIGTERM");
  await first.waitForOutput(/stopping/);
  await first.kill();
  process.kill(pid, "SIGTERM");
  const log = `/tmp/al-runs/${instanceId}.log`;
  await expect.poll(() => readFile(log, "utf8"), { timeout: 20_000 }).toMatch(/ end \{.*\}$/m);
  await letGo();
  const second = await start(1);
  await second.kill();
  const third = await start(1);
  await expect
    .poll(() => triesOf(third, "waits"), { timeout: 20_000 })
    .toEqual(["manual 1 interrupted", expect.stringMatching(/^manual 2 (succeeded|lost)$/)]);
});

test("a caller and its call are interrupted together, and the call is made once more by the caller alone", async () => {
  const first = await start(0);
  await runOf(first, await started(first, "caller"));
  await runOf(first, "callee");
  await first.stop();
  await letGo();
  const second = await start(1);
  await expect
    .poll(() => triesOf(second, "caller"), { timeout: 20_000 })
    .toEqual(["manual 1 interrupted", "manual 2 succeeded"]);
  await expect
    .poll(() => triesOf(second, "callee"), { timeout: 20_000 })
    .toEqual(["agent-call 1 interrupted", "agent-call 2 rejected", "agent-call 1 succeeded"]);
});

test("a tick of the schedule whose run was interrupted waits for a runner instead of being skipped", async () => {
  const tick = { kind: "cron", scheduledFor: Date.UTC(2028, 1, 29) } as const;
  const ticks = ["1", "2"].map((id): WorkItem => ({ ...anItem(id, "waits"), trigger: tick }));
  const store = openStore(project.dir);
  for (const item of ticks) {
    const instanceId = `waits-aaaaaaa${item.id === "1" ? "b" : "c"}`;
    await beginRun(store, { instanceId, agent: anAgent("waits"), item });
  }
  await store.settings.recordStop(Date.now());
  store.close();
  const second = await start(1);
  const before = ["cron 1 interrupted", "cron 1 interrupted"];
  expect(await triesOf(second, "waits")).toEqual([...before, "cron 2 null", "cron 2 null"]);
  await letGo();
  await expect
    .poll(() => triesOf(second, "waits"), { timeout: 30_000 })
    .toEqual([...before, "cron 2 succeeded", "cron 2 succeeded"]);
});

test("al replay and its route run work of every kind again, which names its original", async () => {
  await letGo();
  const tick = { kind: "cron", scheduledFor: Date.UTC(2028, 1, 29) } as const;
  const store = openStore(project.dir);
  const cron: WorkItem = {
    ...anItem("0198c0de-7a11-7000-8000-5ec0ffee0001", "waits"),
    trigger: tick,
  };
  await store.work.refuse(cron, "missed", "no scheduler was up for it", false);
  store.close();
  const only = await start(1);
  await runAl(project, ["run", "caller"]);
  const originals = {
    waits: cron.id,
    caller: (await historyOf(only, "caller"))[0]?.id ?? "",
    callee: (await historyOf(only, "callee"))[0]?.id ?? "",
  };
  for (const [agent, id] of Object.entries(originals)) {
    const answer = await only.api(`/api/triggers/${id}/replay`, { method: "POST" });
    const { matched } = (await answer.json()) as ReplayResult;
    expect(matched).toMatchObject([{ agent, replayOf: id }]);
    await expect
      .poll(async () => (await historyOf(only, agent)).find(({ replayOf }) => replayOf === id))
      .toMatchObject({ outcome: "succeeded", attempt: 1 });
    await only.waitForOutput(new RegExp(`run started .*a replay of ${id}`));
    const byHand = await runAl(project, ["replay", id]);
    expect(byHand).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${agent} `) as string,
    });
  }
});

test("a replay of what the history does not hold says where ids are found", async () => {
  await start(1);
  const { code, stderr } = await runAl(project, ["replay", "0198c0de-7a11-7000-8000-5ec0ffee0009"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/no receipt or trigger "0198c0de.*"[\s\S]*al history/);
});

async function started(from: TestScheduler, agent: string): Promise<string> {
  expect(await startAgents(from, agent)).toEqual([202]);
  return agent;
}
