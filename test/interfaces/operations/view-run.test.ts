import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inARow } from "../../../src/foundation/contracts/format.ts";
import type { RunVersion } from "../../../src/foundation/store/runs.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { agentFailing, viewRun, compareRuns } from "../../../src/interfaces/operations/view-run.ts";
import type { Outcome, WorkItem } from "../../../streams/vocabulary.ts";
import { createLogSource } from "../../../src/foundation/logs/log-source.ts";
import { entry, logPath, tempProject, writeLines } from "../../foundation/logs/support.ts";
import { memoryLogs } from "../../helpers/memory-logs.ts";
import {
  callItem,
  cronItem,
  manualItem,
  requestFor,
  succeeded,
  tempStore,
  webhookItem,
} from "../../foundation/store/support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const secret = "hunter2-hunter2";

function version(letter: string, instructions = `Do ${letter}.`): RunVersion {
  return { hash: letter.repeat(32), content: { config: "{}\n", instructions } };
}

function setUp() {
  const store = tempStore(undefined, () => 5_000);
  const redactor = createRedactor();
  redactor.add([secret]);
  return { store, redactor, logs: memoryLogs() };
}

async function endRun(store: Store, item: WorkItem, instanceId: string, outcome: Outcome) {
  await store.work.claim(requestFor(item, instanceId));
  const end = { ...succeeded, outcome };
  await store.work.end(item, { instanceId, startedAt: item.at, at: item.at, end });
}

test("a running run has its trigger, its version and its calls so far, and no outcome", async () => {
  const deps = setUp();
  const { store } = deps;
  await store.work.claim(requestFor(cronItem("first", "ops", 1_000), "ops-1"), version("a"));
  const call = callItem("a", { callerInstance: "ops-1", context: `use ${secret}` });
  await store.calls.add(call, 100, null);
  await store.work.claim(requestFor(call, "dev-1"), version("b"));
  expect(await viewRun("ops-1", deps)).toMatchObject({
    ...{ id: "first", kind: "cron", outcome: null, value: null, lastWords: null },
    ...{ scheduledFor: "1970-01-01T00:00:01.000Z", late: null },
    version: { hash: "a".repeat(32), commit: null, dirty: null },
    spend: { usd: 0, calls: 0 },
    calls: { received: null, made: [{ id: "a", instanceId: "dev-1" }] },
  });
  const called = await viewRun("dev-1", deps);
  expect(called.calls).toEqual({
    received: {
      ...{ callId: "call-a", caller: "ops", callerInstance: "ops-1" },
      context: "use [redacted]",
    },
    made: [],
  });
});

test("a run keeps its agent's name and its ids, even if a credential has such a value", async () => {
  const deps = setUp();
  const agent = "release-bot";
  deps.redactor.add([agent]);
  const request = requestFor(cronItem("first", agent), `${agent}-1`);
  await deps.store.work.claim(request, version("a"));
  expect(await viewRun(`${agent}-1`, deps)).toMatchObject({ agent, instanceId: `${agent}-1` });
});

test("the request, texts and result of a run are shown without secrets", async () => {
  const deps = setUp();
  const { store, logs } = deps;
  const item = { ...manualItem("m"), trigger: { kind: "manual", prompt: `do ${secret}` } } as const;
  await store.work.enqueue([item]);
  await store.work.claim(requestFor(item, "dev-1"), version("a"));
  const line = { level: 30, time: 1, agent: "dev", instanceId: "dev-1" } as const;
  logs.write({ ...line, kind: "said", msg: "First." });
  logs.write({ ...line, kind: "said", msg: "Done." });
  logs.write({ ...line, kind: "run", msg: "ended" });
  const end = { ...succeeded, value: { token: secret } };
  await store.work.end(item, { instanceId: "dev-1", startedAt: 0, end });
  expect(await viewRun("dev-1", deps)).toMatchObject({
    ...{ outcome: "succeeded", model: "m", tokens: 12, costUsd: 0.5, lastWords: "Done." },
    ...{ prompt: "do [redacted]", value: { token: "[redacted]" } },
  });
});

test("a run by webhook has its delivery's payload without secrets, as long as that is stored", async () => {
  const deps = setUp();
  const body = Buffer.from(JSON.stringify({ title: secret, token: "abc" }));
  const receipt = {
    ...{ id: "receipt-1", at: 1, source: "gh", type: "github", deliveryId: "d1" },
    headers: { "x-github-event": "issues" },
    ...{ body, matched: ["dev"], reason: null },
  };
  const item = webhookItem("w", "receipt-1");
  await deps.store.receipts.accept({ receipt, items: [item], taken: [], deadLetters: [] });
  await deps.store.work.claim(requestFor(item, "dev-1"));
  const { payload } = await viewRun("dev-1", deps);
  expect(JSON.parse(payload ?? "")).toEqual({ title: "[redacted]", token: "[redacted]" });
});

test("a run knows its agent's last success before it, and whether that had the same version", async () => {
  const deps = setUp();
  const { store } = deps;
  const runs = [
    ["1", "a", "succeeded"],
    ["2", "a", "failed"],
    ["3", "b", "succeeded"],
  ] as const;
  for (const [id, letter, outcome] of runs) {
    const item = cronItem(id, "dev", Number(id));
    await store.work.claim(requestFor(item, `dev-${id}`), version(letter));
    const end = { ...succeeded, outcome };
    await store.work.end(item, { instanceId: `dev-${id}`, startedAt: Number(id), at: 9, end });
  }
  await store.work.claim(requestFor(cronItem("4", "dev", 4), "dev-4"));
  const seen = await Promise.all(
    ["dev-1", "dev-2", "dev-3", "dev-4"].map(async (id) => (await viewRun(id, deps)).lastSuccess),
  );
  expect((await viewRun("dev-1", deps)).failing).toBeNull();
  expect(seen).toEqual([
    null,
    { instanceId: "dev-1", changed: false },
    { instanceId: "dev-1", changed: true },
    { instanceId: "dev-3", changed: null },
  ]);
});

test("a run's prompt is read from its log on request, however long the log is", async () => {
  const projectDir = tempProject();
  const deps = { ...setUp(), logs: createLogSource(projectDir) };
  const run = { agent: "dev", instanceId: "dev-aaaaaaaa", time: 5_000 };
  const path = logPath(projectDir, "dev", "1970-01-01");
  await deps.store.work.claim(requestFor(cronItem("1", "dev", 1), run.instanceId));
  const asked = async () => (await viewRun(run.instanceId, deps, true)).modelPrompt;
  const hooks = Array.from({ length: 999 }, () => entry("pre hook", { ...run, kind: "hook" }));
  writeLines(path, [...hooks, entry("of another run", { ...run, instanceId: "dev-bbbbbbbb" })]);
  expect(await asked()).toBeNull();
  const part = (output: string) => entry("prompt", { ...run, kind: "prompt", output });
  writeLines(path, [part("Do "), part("it.")]);
  const later = Array.from({ length: 10_000 }, () => entry("line", { ...run, kind: "process" }));
  writeLines(path, [later.map((line) => JSON.stringify(line)).join("\n"), "\n"]);
  expect(await asked()).toBe("Do it.");
  expect((await viewRun(run.instanceId, deps)).modelPrompt).toBeUndefined();
});

test("failed runs are counted since the last success, in spite of other ends between", async () => {
  const deps = setUp();
  const { store } = deps;
  const runs = [
    ["1", "dev", "a", "failed"],
    ["2", "dev", "a", "succeeded"],
    ["3", "dev", "b", "failed"],
    ["4", "ops", "a", "failed"],
    ["5", "dev", "b", "killed"],
    ["6", "dev", "b", "timed_out"],
  ] as const;
  for (const [id, agent, letter, outcome] of runs) {
    const item = (id === "6" ? manualItem : cronItem)(id, agent, Number(id));
    if (id === "6") await store.work.enqueue([item]);
    await store.work.claim(requestFor(item, `${agent}-${id}`), version(letter));
    const end = { ...succeeded, outcome };
    await store.work.end(item, { instanceId: `${agent}-${id}`, startedAt: Number(id), at: 9, end });
  }
  const failing = {
    instanceId: "dev-6",
    count: 2,
    newest: true,
    since: "1970-01-01T00:00:00.003Z",
    lastSuccess: { instanceId: "dev-2", at: "1970-01-01T00:00:00.002Z" },
    changed: ["instructions"],
  };
  expect((await viewRun("dev-6", deps)).failing).toEqual(failing);
  expect(agentFailing("dev", store)).toEqual(failing);
  expect((await viewRun("dev-3", deps)).failing).toMatchObject({ count: 1, newest: false });
  expect(agentFailing("ops", store)).toMatchObject({ count: 1, lastSuccess: null, changed: null });
  expect(agentFailing("cat", store)).toBeNull();
  expect((await viewRun("dev-5", deps)).failing).toBeNull();
});

test("runs over budget and lost runs count as failed, as dead letters too", async () => {
  const { store } = setUp();
  const outcomes = ["succeeded", "over_budget", "lost", "lost", "failed"] as const;
  for (const [index, outcome] of outcomes.entries()) {
    const item = { ...cronItem(`${index}`, "dev", index), attempt: index === 3 ? 2 : 1 };
    await endRun(store, item, `dev-${index}`, outcome);
  }
  const failingAt = (id: string) => store.runs.failingAt(id);
  const since = "1970-01-01T00:00:00.001Z";
  expect(failingAt("dev-1")).toMatchObject({ count: 1, since });
  expect(failingAt("dev-3")).toMatchObject({ count: 3, since });
  expect(agentFailing("dev", store)).toMatchObject({ count: 4, since, instanceId: "dev-4" });
});

test("an agent keeps failing while much of its work waits", async () => {
  const { store } = setUp();
  await endRun(store, cronItem("run", "dev", 1), "dev-1", "failed");
  const ids = Array.from({ length: 40 }, (_, index) => `m${index}`);
  await store.work.enqueue(ids.map((id) => manualItem(id, "dev", 2)));
  expect(agentFailing("dev", store)).toMatchObject({ count: 1, instanceId: "dev-1" });
});

test("failures in a row are counted to 10,000, and since when is exact", async () => {
  const dir = tempDir();
  const store = tempStore(dir);
  await endRun(store, cronItem("good", "dev", 1), "dev-good", "succeeded");
  const db = new DatabaseSync(join(dir, ".al", "state.db"));
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
    INSERT INTO triggers (id, at, kind, agent, state, outcome, attempt, started_at, instance_id)
    SELECT 'e' || i, i, CASE WHEN i < 5 THEN 'webhook' ELSE 'cron' END, 'dev', 'ended', 'failed', 1, i, 'dev-' || i FROM n`);
  db.close();
  const counted = (id: string) => store.runs.failingAt(id)?.count;
  expect(agentFailing("dev", store)).toMatchObject({
    ...{ instanceId: "dev-12000", count: 10_000, since: "1970-01-01T00:00:00.002Z" },
  });
  expect([counted("dev-9999"), inARow(9_998)]).toEqual([9_998, ", 9,998 in a row"]);
  expect(inARow(10_000)).toBe(", 10,000+ in a row");
});

test("a run by webhook names its receipt", async () => {
  const deps = setUp();
  const item = webhookItem("w", "receipt-1");
  await deps.store.work.enqueue([item]);
  await deps.store.work.claim(requestFor(item, "dev-1"));
  const run = await viewRun("dev-1", deps);
  expect(run).toMatchObject({
    ...{ receiptId: "receipt-1", source: "gh", version: null, payload: null },
  });
  await expect(viewRun("dev-2", deps)).rejects.toMatchObject({ code: "unknown_instance" });
});

test("runs are compared in the order of their starts, without known secrets", async () => {
  const deps = setUp();
  const { store } = deps;
  await store.work.claim(requestFor(cronItem("1", "dev", 1), "dev-1"), version("a", secret));
  const failed = { ...succeeded, outcome: "failed" } as const;
  const ended = { instanceId: "dev-1", startedAt: 1, at: 2, end: failed };
  await store.work.end(cronItem("1", "dev", 1), ended);
  await store.work.claim(requestFor(cronItem("2", "dev", 3), "dev-2"), version("b", "new"));
  const result = await compareRuns("dev-1", "dev-2", deps);
  expect([result.from.instanceId, result.to.instanceId]).toEqual(["dev-1", "dev-2"]);
  expect(result.text).toMatch(/^-\[redacted\]\n\+new$/m);
  await expect(compareRuns("dev-2", null, deps)).rejects.toMatchObject({
    code: "unknown_instance",
    message: expect.stringContaining("name the run to compare it with") as string,
  });
  await store.work.claim(requestFor(cronItem("3", "dev", 4), "dev-3"));
  await expect(compareRuns("dev-3", "dev-1", deps)).rejects.toMatchObject({
    code: "unknown_version",
  });
});
