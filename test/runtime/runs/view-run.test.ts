import type { Outcome } from "../../../streams/outcomes.ts";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inARow } from "../../../src/foundation/contracts/format.ts";
import type { RunVersion } from "../../../src/foundation/store/runs.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { agentFailing, viewRun, compareRuns } from "../../../src/runtime/runs/view-run.ts";
import { readTrace } from "../../../src/runtime/runs/read-trace.ts";
import { createSpend } from "../../../src/features/spend/spend-store.ts";
import type { RunEnd, WorkItem } from "../../../streams/vocabulary.ts";
import { createLogSource } from "../../../src/foundation/logs/log-source.ts";
import { entry, logPath, tempProject, writeLines } from "../../foundation/logs/support.ts";
import { memoryLogs } from "../../helpers/memory-logs.ts";
import * as support from "../../foundation/store/support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const { callItem, cronItem, manualItem, requestFor, succeeded, tempStore, webhookItem } = support;
const secret = "hunter2-hunter2";

function version(letter: string, instructions = `Do ${letter}.`): RunVersion {
  return { hash: letter.repeat(32), content: { config: "{}\n", instructions } };
}

function setUp() {
  const store = tempStore(undefined, () => 5_000);
  const redactor = createRedactor();
  redactor.add([secret]);
  const deps = { store, redactor, logs: memoryLogs() };
  const claim = (item: WorkItem, instanceId: string, of?: RunVersion) =>
    store.work.claim(requestFor(item, instanceId), of);
  return { deps, store, claim, view: (id: string) => viewRun(id, deps) };
}

interface Ended {
  readonly instanceId: string;
  readonly version?: RunVersion;
  readonly end?: Partial<RunEnd>;
}

async function endRun(store: Store, item: WorkItem, outcome: Outcome, ended: Partial<Ended> = {}) {
  const { instanceId = `${item.agent}-${item.id}`, version: of, end } = ended;
  await store.work.claim(requestFor(item, instanceId), of);
  const { at } = item;
  await store.work.end(item, {
    instanceId,
    startedAt: at,
    at,
    end: { ...succeeded, outcome, ...end },
  });
}

test("a running run has its trigger, its version and its calls so far, and no outcome", async () => {
  const { store, claim, view } = setUp();
  await claim(cronItem("first", "ops", 1_000), "ops-1", version("a"));
  const call = callItem("a", { callerInstance: "ops-1", context: `use ${secret}` });
  await store.calls.add(call, 100, null);
  await claim(call, "dev-1", version("b"));
  expect(await view("ops-1")).toMatchObject({
    id: "first",
    kind: "cron",
    outcome: null,
    lastWords: null,
    scheduledFor: "1970-01-01T00:00:01.000Z",
    version: { hash: "a".repeat(32), commit: null, dirty: null },
    spend: { usd: 0, calls: 0 },
    calls: { received: null, made: [{ id: "a", instanceId: "dev-1" }] },
  });
  expect((await view("dev-1")).calls).toEqual({
    received: {
      callId: "call-a",
      caller: "ops",
      callerInstance: "ops-1",
      context: "use [redacted]",
    },
    made: [],
  });
});

test("a run keeps its agent's name and its ids, even if a credential has such a value", async () => {
  const { deps, claim, view } = setUp();
  const agent = "release-bot";
  deps.redactor.add([agent]);
  await claim(cronItem("first", agent), `${agent}-1`);
  expect(await view(`${agent}-1`)).toMatchObject({ agent, instanceId: `${agent}-1` });
});

test("the request, texts and result of a run are shown without secrets", async () => {
  const { deps, store, view } = setUp();
  const item = { ...manualItem("m"), trigger: { kind: "manual", prompt: `do ${secret}` } } as const;
  await store.work.enqueue([item]);
  const line = { level: 30, time: 1, agent: "dev", instanceId: "dev-m" } as const;
  deps.logs.write({ ...line, kind: "said", msg: "First." });
  deps.logs.write({ ...line, kind: "said", msg: "Done." });
  deps.logs.write({ ...line, kind: "run", msg: "ended" });
  await endRun(store, item, "succeeded", { end: { value: { token: secret } } });
  expect(await view("dev-m")).toMatchObject({
    outcome: "succeeded",
    model: "m",
    tokens: 12,
    costUsd: 0.5,
    lastWords: "Done.",
    prompt: "do [redacted]",
    value: { token: "[redacted]" },
  });
});

test("a run by webhook has its delivery's payload without secrets, as long as that is stored", async () => {
  const { store, claim, view } = setUp();
  const receipt = {
    id: "stored",
    at: 1,
    source: "gh",
    type: "github",
    deliveryId: "d1",
    headers: { "x-github-event": "issues" },
    body: Buffer.from(JSON.stringify({ title: secret, token: "abc" })),
    matched: ["dev"],
    reason: null,
  };
  const items = [webhookItem("w", "stored"), webhookItem("v", "deleted")] as const;
  await store.receipts.accept({ receipt, items, taken: [], deadLetters: [] });
  for (const item of items) await claim(item, `dev-${item.id}`);
  const { payload } = await view("dev-w");
  expect(JSON.parse(payload ?? "")).toEqual({ title: "[redacted]", token: "[redacted]" });
  const gone = { receiptId: "deleted", source: "gh", version: null, payload: null };
  expect(await view("dev-v")).toMatchObject(gone);
  await expect(view("dev-2")).rejects.toMatchObject({ code: "unknown_instance" });
});

test("a run knows its agent's last success before it, and whether that had the same version", async () => {
  const { store, claim, view } = setUp();
  await endRun(store, cronItem("1"), "succeeded", { version: version("a") });
  await endRun(store, cronItem("2", "dev", 2_000), "failed", { version: version("a") });
  await endRun(store, cronItem("3", "dev", 3_000), "succeeded", { version: version("b") });
  await claim(cronItem("4", "dev", 4_000), "dev-4");
  const seen = ["dev-1", "dev-2", "dev-3", "dev-4"].map(async (id) => (await view(id)).lastSuccess);
  expect(await Promise.all(seen)).toEqual([
    null,
    { instanceId: "dev-1", changed: false },
    { instanceId: "dev-1", changed: true },
    { instanceId: "dev-3", changed: null },
  ]);
});

test("a run's prompt is read from its log on request, however long the log is", async () => {
  const projectDir = tempProject();
  const { deps, claim } = setUp();
  const run = { agent: "dev", instanceId: "dev-aaaaaaaa", time: 5_000 };
  const path = logPath(projectDir, "dev", "1970-01-01");
  await claim(cronItem("1", "dev", 1), run.instanceId);
  const asked = async (withPrompt = true) => {
    const logs = createLogSource(projectDir);
    return (await viewRun(run.instanceId, { ...deps, logs }, withPrompt)).modelPrompt;
  };
  const hooks = Array.from({ length: 999 }, () => entry("pre hook", { ...run, kind: "hook" }));
  writeLines(path, [...hooks, entry("of another run", { ...run, instanceId: "dev-bbbbbbbb" })]);
  expect(await asked()).toBeNull();
  const part = (output: string) => entry("prompt", { ...run, kind: "prompt", output });
  writeLines(path, [part("Do "), part("it.")]);
  const later = Array.from({ length: 10_000 }, () => entry("line", { ...run, kind: "process" }));
  writeLines(path, [later.map((line) => JSON.stringify(line)).join("\n"), "\n"]);
  expect(await asked()).toBe("Do it.");
  expect(await asked(false)).toBeUndefined();
});

test("failed runs are counted since the last success, in spite of other ends between", async () => {
  const { store, view } = setUp();
  const runs = [
    ["1", "dev", "a", "failed"],
    ["2", "dev", "a", "succeeded"],
    ["3", "dev", "b", "over_budget"],
    ["4", "ops", "a", "failed"],
    ["5", "dev", "b", "killed"],
    ["6", "dev", "b", "timed_out"],
    ["7", "dev", "b", "lost"],
  ] as const;
  for (const [id, agent, letter, outcome] of runs) {
    const item = { ...cronItem(id, agent, Number(id)), attempt: id === "7" ? 2 : 1 };
    await endRun(store, item, outcome, { version: version(letter) });
  }
  // Waiting work changes nothing.
  const waiting = Array.from({ length: 40 }, (_, index) => manualItem(`m${index}`, "dev", 8));
  await store.work.enqueue(waiting);
  const failing = {
    instanceId: "dev-7",
    count: 3,
    newest: true,
    since: "1970-01-01T00:00:00.003Z",
    lastSuccess: { instanceId: "dev-2", at: "1970-01-01T00:00:00.002Z" },
    changed: ["instructions"],
  };
  expect((await view("dev-7")).failing).toEqual(failing);
  expect(agentFailing("dev", store)).toEqual(failing);
  expect((await view("dev-3")).failing).toMatchObject({ count: 1, newest: false });
  expect(agentFailing("ops", store)).toMatchObject({ count: 1, lastSuccess: null, changed: null });
  expect(agentFailing("cat", store)).toBeNull();
  for (const id of ["dev-2", "dev-5"]) expect((await view(id)).failing).toBeNull();
});

test("a run's failures in a row are counted to 10,000, with their exact start", async () => {
  const dir = tempDir();
  const store = tempStore(dir);
  await endRun(store, cronItem("good", "dev", 1), "succeeded");
  const db = new DatabaseSync(join(dir, ".al", "state.db"));
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
    INSERT INTO triggers (id, at, kind, agent, state, outcome, attempt, started_at, instance_id)
    SELECT 'e' || i, i, CASE WHEN i < 5 THEN 'webhook' ELSE 'cron' END, 'dev', 'ended', 'failed', 1, i, 'dev-' || i FROM n`);
  db.close();
  const since = "1970-01-01T00:00:00.002Z";
  const failing = { instanceId: "dev-12000", count: 10_000, since };
  expect(agentFailing("dev", store)).toMatchObject(failing);
  const count = store.runs.failingAt("dev-9999")?.count;
  expect([count, inARow(9_998)]).toEqual([9_998, ", 9,998 in a row"]);
  expect(inARow(10_000)).toBe(", 10,000+ in a row");
});

test("runs are compared in the order of their starts, without known secrets", async () => {
  const { deps, store, claim } = setUp();
  await endRun(store, cronItem("1", "dev", 1), "failed", { version: version("a", secret) });
  await claim(cronItem("2", "dev", 3), "dev-2", version("b", "new"));
  const result = await compareRuns("dev-1", "dev-2", deps);
  expect([result.from.instanceId, result.to.instanceId]).toEqual(["dev-1", "dev-2"]);
  expect(result.text).toMatch(/^-\[redacted\]\n\+new$/m);
  await expect(compareRuns("dev-2", null, deps)).rejects.toMatchObject({
    code: "unknown_instance",
    message: expect.stringContaining("name the run to compare with") as string,
  });
  await claim(cronItem("3", "dev", 4), "dev-3");
  const unknown = compareRuns("dev-3", "dev-1", deps);
  await expect(unknown).rejects.toMatchObject({ code: "unknown_version" });
});

test("the trace of a run is made from its log and its stored calls to models", async () => {
  const { deps, store, claim } = setUp();
  await claim(cronItem("1", "dev", 1_000), "dev-1");
  const write = (instanceId: string, msg: string) =>
    deps.logs.write({ agent: "dev", instanceId, time: 6_000, kind: "tool", call: msg, msg });
  write("dev-1", "bash: ls");
  write("dev-2", "bash: of another run");
  const accounts = [{ scope: "run:dev-1", window: "run", endsAt: null }];
  const call = { at: 7_000, day: "1970-01-01", instanceId: "dev-1", agent: "dev", model: "haiku" };
  const cost = { providerModel: "h", billing: "priced", reserved: 5, seen: 5, accounts } as const;
  await store.tables(createSpend).reserve({ ...call, ...cost });
  const { steps, isOver } = await readTrace("dev-1", deps);
  expect([isOver, ...steps.map(({ name }) => name)]).toEqual([
    false,
    "start",
    "bash: ls",
    "turn 1: haiku",
  ]);
  await expect(readTrace("dev-3", deps)).rejects.toMatchObject({ code: "unknown_instance" });
});
