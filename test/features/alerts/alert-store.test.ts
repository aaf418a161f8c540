import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import type { Alert, Delivery } from "../../../src/features/alerts/rules/alert.ts";
import {
  beginRun,
  manualItem,
  requestFor,
  succeeded,
  tempStore,
} from "../../foundation/store/support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const alert: Alert = {
  topic: "runs",
  phase: "opened",
  agent: "dev",
  at: 1_000,
  since: 1_000,
  reason: "exited with code 1",
  count: 1,
  outcome: "failed",
  instanceId: "dev-aaaaaaaa",
  costUsd: null,
  agents: [],
};

function delivery(id: string, changed: Partial<Delivery> = {}): Delivery {
  return { id, at: 1_000, target: "ops", alert, nextAt: 1_000, ...changed };
}

const failing = { agent: "dev", rule: "runs", value: "{}" };

test("the alerts of a run's end are committed with it, and not without it", async () => {
  const dir = tempDir();
  const store = tempStore(dir);
  const item = manualItem("1");
  const run = { instanceId: "dev-aaaaaaaa", startedAt: 1, end: succeeded };
  const also = (id: string) => () =>
    store.tables(createAlertStore).put({ states: [failing], deliveries: [delivery(id)] });
  await expect(store.work.end(item, run, also("early"))).rejects.toThrow("is not run by");
  expect([
    store.tables(createAlertStore).states(),
    store.tables(createAlertStore).list({ before: null, limit: 9 }),
  ]).toEqual([[], []]);
  await store.work.enqueue([item]);
  await store.work.claim(requestFor(item));
  await store.work.end(item, run, also("late"));
  store.close();

  const alerts = tempStore(dir).tables(createAlertStore);
  expect(alerts.states()).toEqual([failing]);
  expect(alerts.list({ before: null, limit: 9 })).toMatchObject([
    { id: "late", alert, state: "waiting", attempts: 0, lastError: null, endedAt: null },
  ]);
});

test("the alerts of a refusal are committed with it, and not without it", async () => {
  const { work, tables } = tempStore();
  const alerts = tables(createAlertStore);
  const item = manualItem("1");
  const also = () => alerts.put({ states: [], deliveries: [delivery("a")] });
  await work.enqueue([item]);
  await work.refuse(item, "dropped", "queue_full", true, also);
  expect(alerts.waitingTargets()).toEqual(["ops"]);
  await expect(work.refuse(item, "dropped", "queue_full", true, also)).rejects.toThrow("is ended");
});

test("the alerts of a lost run are committed with the recovery", async () => {
  const dir = tempDir();
  const first = tempStore(dir);
  const item = manualItem("1");
  await first.work.enqueue([item]);
  await beginRun(first, requestFor(item));
  first.close();
  const { recover, tables } = tempStore(dir);
  const alerts = tables(createAlertStore);
  await recover(new Set(), (lost) => {
    for (const { instanceId } of lost)
      alerts.put({ states: [], deliveries: [delivery(instanceId)] });
  });
  expect(alerts.list({ before: null, limit: 9 })).toMatchObject([{ id: "dev-aaaaaaaa" }]);
});

test("a target gets due deliveries, the oldest first; an attempt moves or ends a delivery", async () => {
  const alerts = tempStore().tables(createAlertStore);
  const deliveries = [
    delivery("b", { nextAt: 2_000 }),
    delivery("a"),
    delivery("later", { nextAt: 9_000 }),
    delivery("other", { target: "phone" }),
  ];
  await alerts.record({ states: [], deliveries });
  const ids = async (target: string, now: number, limit = 9) =>
    (await alerts.due(target, now, limit)).map(({ id }) => id);
  expect(await ids("ops", 2_000)).toEqual(["a", "b"]);
  expect(await ids("ops", 2_000, 1)).toEqual(["a"]);
  expect([await ids("phone", 1_000), await ids("phone", 999)]).toEqual([["other"], []]);
  expect(new Set(alerts.waitingTargets())).toEqual(new Set(["ops", "phone"]));

  await alerts.attempted("a", { type: "retry", nextAt: 7_000, error: "HTTP 503" });
  await alerts.attempted("b", { type: "dead", at: 2_500, error: "HTTP 404" });
  await alerts.attempted("other", { type: "sent", at: 3_000 });
  expect([alerts.nextAt("ops"), alerts.nextAt("phone")]).toEqual([7_000, null]);
  const stored = alerts.list({ before: null, limit: 9 });
  expect(stored.map(({ id }) => id)).toEqual(["other", "later", "a", "b"]);
  expect(stored).toMatchObject([
    { state: "sent", attempts: 1, lastError: null, endedAt: 3_000 },
    { state: "waiting", attempts: 0 },
    { state: "waiting", attempts: 1, nextAt: 7_000, lastError: "HTTP 503", endedAt: null },
    { state: "dead", attempts: 1, lastError: "HTTP 404", endedAt: 2_500 },
  ]);
  expect(alerts.list({ state: "waiting", target: "ops", before: "later", limit: 9 })).toMatchObject(
    [{ id: "a" }],
  );
});

test("a manual retry restarts a dead delivery, and does not change a sent one", async () => {
  const alerts = tempStore().tables(createAlertStore);
  await alerts.record({ states: [], deliveries: [delivery("dead"), delivery("sent")] });
  await alerts.attempted("dead", { type: "dead", at: 2_000, error: "HTTP 404" });
  await alerts.attempted("sent", { type: "sent", at: 2_000 });
  expect(await alerts.retry("dead", 5_000)).toBe(true);
  expect(await alerts.retry("sent", 5_000)).toBe(false);
  expect(await alerts.retry("unknown", 5_000)).toBe(false);
  expect(await alerts.due("ops", 5_000, 9)).toMatchObject([
    { id: "dead", attempts: 0, nextAt: 5_000, lastError: "HTTP 404", endedAt: null },
  ]);
});

test("failed and dead deliveries of one target become due again, without their errors", async () => {
  const alerts = tempStore().tables(createAlertStore);
  const deliveries = [
    delivery("failed"),
    delivery("dead"),
    delivery("digest", { nextAt: 9_000 }),
    delivery("other", { target: "phone" }),
  ];
  await alerts.record({ states: [], deliveries });
  for (const id of ["failed", "other"]) {
    await alerts.attempted(id, { type: "retry", nextAt: 7_000, error: "HTTP 503" });
  }
  await alerts.attempted("dead", { type: "dead", at: 2_000, error: "HTTP 503" });
  await alerts.retryFailed("ops", 5_000);
  expect(await alerts.due("ops", 5_000, 9)).toMatchObject([
    { id: "failed", attempts: 1, lastError: null },
    { id: "dead", attempts: 0, lastError: null, endedAt: null },
  ]);
  expect(await alerts.due("phone", 5_000, 9)).toEqual([]);
});

test("a digest replaces its alerts", async () => {
  const alerts = tempStore().tables(createAlertStore);
  await alerts.record({ states: [], deliveries: [delivery("a"), delivery("b"), delivery("c")] });
  await alerts.replace(["a", "b"], delivery("digest"));
  const stored = alerts.list({ before: null, limit: 9 });
  expect(stored.map(({ id }) => id)).toEqual(["digest", "c"]);
});

test("an alert held by quiet hours is not sent by hand", async () => {
  const alerts = tempStore().tables(createAlertStore);
  await alerts.record({ states: [], deliveries: [delivery("a", { nextAt: 9_000 })] });
  expect(await alerts.retry("a", 5_000)).toBe(false);
  expect(await alerts.due("ops", 5_000, 9)).toEqual([]);
});

test("deliveries planned while the clock was years ahead are due", async () => {
  const alerts = tempStore().tables(createAlertStore);
  const day = 86_400_000;
  const times = { far: 9_000 * day, tomorrow: day, now: 1_000 };
  const deliveries = Object.entries(times).map(([id, nextAt]) => delivery(id, { nextAt }));
  await alerts.record({ states: [], deliveries });
  expect((await alerts.due("ops", 1_000, 9)).map(({ id }) => id)).toEqual(["now", "far"]);
});

test("a rule with an empty state is deleted; a target stays off until it is switched on", async () => {
  const alerts = tempStore().tables(createAlertStore);
  await alerts.record({ states: [failing, { ...failing, agent: "" }], deliveries: [] });
  await alerts.record({ states: [{ ...failing, value: null }], deliveries: [] });
  expect(alerts.states()).toEqual([{ ...failing, agent: "" }]);
  await alerts.switchOff("ops", { at: 1, reason: "HTTP 410" });
  await alerts.switchOff("ops", { at: 2, reason: "HTTP 410 Gone" });
  expect(alerts.switchedOff()).toEqual(new Map([["ops", { at: 2, reason: "HTTP 410 Gone" }]]));
  await alerts.switchOff("ops", null);
  expect(alerts.switchedOff()).toEqual(new Map());
});

test("waiting alerts don't keep younger history in a store that is too large", async () => {
  const { prune, tables } = tempStore();
  const alerts = tables(createAlertStore);
  const many = Array.from({ length: 900 }, (_, index) => delivery(`w${index}`));
  await alerts.record({ states: [], deliveries: [...many, delivery("sent", { at: 2_000 })] });
  await alerts.attempted("sent", { type: "sent", at: 2_000 });
  const pruned = await prune({ now: 3_000, days: 14, maxBytes: 1 });
  expect(pruned).toBe(1);
  expect(alerts.targetDeliveries().get("ops")).toMatchObject({ waiting: 900, dead: 0 });
});

test("ended deliveries are deleted with the history, and waiting ones stay", async () => {
  const { prune, tables } = tempStore();
  const alerts = tables(createAlertStore);
  await alerts.record({ states: [], deliveries: [delivery("waits"), delivery("sent")] });
  await alerts.attempted("sent", { type: "sent", at: 2_000 });
  expect(await prune({ now: 30 * 86_400_000, days: 14, maxBytes: 1e12 })).toBe(1);
  expect(alerts.list({ before: null, limit: 9 })).toMatchObject([{ id: "waits" }]);
});

test("each target reports its waiting and dead deliveries, and its error while it fails", async () => {
  const alerts = tempStore().tables(createAlertStore);
  expect(alerts.targetDeliveries()).toEqual(new Map());
  const ids = ["new", "tried", "dead", "sent"];
  await alerts.record({ states: [], deliveries: ids.map((id) => delivery(id)) });
  const other = ["lost", "fine"].map((id) => delivery(id, { target: "pager" }));
  await alerts.record({ states: [], deliveries: other });
  await alerts.attempted("tried", { type: "retry", nextAt: 9_000, error: "HTTP 503" });
  await alerts.attempted("dead", { type: "dead", at: 2_000, error: "HTTP 404" });
  await alerts.attempted("sent", { type: "sent", at: 3_000 });
  await alerts.attempted("lost", { type: "dead", at: 4_000, error: "HTTP 500" });
  const pager = { waiting: 1, dead: 1, lastError: "HTTP 500" };
  expect(alerts.targetDeliveries()).toEqual(
    new Map([
      ["ops", { waiting: 2, dead: 1, lastError: "HTTP 503" }],
      ["pager", pager],
    ]),
  );
  await alerts.attempted("tried", { type: "sent", at: 9_000 });
  await alerts.attempted("fine", { type: "sent", at: 9_000 });
  expect(alerts.targetDeliveries()).toEqual(
    new Map([
      ["ops", { waiting: 1, dead: 1, lastError: null }],
      ["pager", { waiting: 0, dead: 1, lastError: null }],
    ]),
  );
});
