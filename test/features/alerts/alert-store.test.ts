import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import type { Delivery } from "../../../src/features/alerts/rules/alert.ts";
import {
  beginRun,
  claimed,
  manualItem,
  requestFor,
  succeeded,
  tempStore,
  reopened,
} from "../../foundation/store/support.ts";
import { anAlert } from "./rules/alerts.ts";

const alert = anAlert();

function delivery(id: string, changed: Partial<Delivery> = {}): Delivery {
  return { id, at: 1_000, target: "ops", alert, nextAt: 1_000, ...changed };
}

const failing = { agent: "dev", rule: "runs", value: "{}" };

/** The alerts of a store, with deliveries. */
async function storeWith(...deliveries: readonly (Delivery | string)[]) {
  const { prune, tables } = tempStore();
  const alerts = tables(createAlertStore);
  await alerts.record({
    states: [],
    deliveries: deliveries.map((one) => (typeof one === "string" ? delivery(one) : one)),
  });
  return {
    ...alerts,
    prune,
    stored: () => alerts.list({ limit: 9 }),
    dueIds: async (now: number, target = "ops", limit = 9) =>
      (await alerts.due(target, now, limit)).map(({ id }) => id),
    sent: (id: string, at = 2_000) => alerts.attempted(id, { type: "sent", at }),
    failed: (id: string, nextAt = 7_000) =>
      alerts.attempted(id, { type: "retry", nextAt, error: "HTTP 503" }),
    died: (id: string, at = 2_000) => alerts.attempted(id, { type: "dead", at, error: "HTTP 404" }),
  };
}

test("a run's end and its alerts are committed together or not at all", async () => {
  const store = tempStore();
  const item = manualItem("1");
  const end = (id: string): Promise<unknown> =>
    store.work.end(item, { instanceId: "dev-aaaaaaaa", startedAt: 1, end: succeeded }, () =>
      store.tables(createAlertStore).put({ states: [failing], deliveries: [delivery(id)] }),
    );
  await expect(end("early")).rejects.toThrow("is not run by");
  await claimed(store, item);
  await end("late");

  const alerts = reopened(store).tables(createAlertStore);
  expect(alerts.states()).toEqual([failing]);
  expect(alerts.list({ limit: 9 })).toMatchObject([
    { id: "late", alert, state: "waiting", attempts: 0, lastError: null, endedAt: null },
  ]);
});

test("a work item's refusal and its alerts are committed together or not at all", async () => {
  const { work, tables } = tempStore();
  const alerts = tables(createAlertStore);
  const item = manualItem("1");
  const refuse = (id: string): Promise<unknown> =>
    work.refuse(item, "dropped", "queue_full", true, () =>
      alerts.put({ states: [], deliveries: [delivery(id)] }),
    );
  await work.enqueue([item]);
  await refuse("a");
  await expect(refuse("b")).rejects.toThrow("is ended");
  expect(alerts.list({ limit: 9 })).toMatchObject([{ id: "a" }]);
});

test("the alerts of a lost run are committed with the recovery", async () => {
  const first = tempStore();
  const item = manualItem("1");
  await first.work.enqueue([item]);
  await beginRun(first, requestFor(item));
  const { recover, tables } = reopened(first);
  const alerts = tables(createAlertStore);
  await recover(new Set(), (lost) =>
    alerts.put({ states: [], deliveries: lost.map(({ instanceId }) => delivery(instanceId)) }),
  );
  expect(alerts.list({ limit: 9 })).toMatchObject([{ id: "dev-aaaaaaaa" }]);
});

test("alert deliveries are due oldest first; a failed attempt postpones its delivery", async () => {
  const alerts = await storeWith(
    delivery("b", { nextAt: 2_000 }),
    "a",
    delivery("later", { nextAt: 9_000 }),
    delivery("other", { target: "phone" }),
  );
  expect(await alerts.dueIds(2_000)).toEqual(["a", "b"]);
  expect(await alerts.dueIds(2_000, "ops", 1)).toEqual(["a"]);
  expect(await alerts.dueIds(1_000, "phone")).toEqual(["other"]);
  expect(await alerts.dueIds(999, "phone")).toEqual([]);
  expect(alerts.waitingTargets().toSorted()).toEqual(["ops", "phone"]);

  await alerts.failed("a");
  await alerts.died("b", 2_500);
  await alerts.sent("other", 3_000);
  expect([alerts.nextAt("ops"), alerts.nextAt("phone")]).toEqual([7_000, null]);
  expect(alerts.stored()).toMatchObject([
    { id: "other", state: "sent", attempts: 1, lastError: null, endedAt: 3_000 },
    { id: "later", state: "waiting", attempts: 0 },
    { id: "a", state: "waiting", attempts: 1, nextAt: 7_000, lastError: "HTTP 503", endedAt: null },
    { id: "b", state: "dead", attempts: 1, lastError: "HTTP 404", endedAt: 2_500 },
  ]);
  const older = alerts.list({ state: "waiting", target: "ops", before: "later", limit: 9 });
  expect(older).toMatchObject([{ id: "a" }]);
});

test("retrying an alert by hand works if it was given up, not if it was sent or waits for quiet hours", async () => {
  const alerts = await storeWith("dead", "sent", delivery("held", { nextAt: 9_000 }));
  await alerts.died("dead");
  await alerts.sent("sent");
  for (const id of ["dead", "sent", "held", "unknown"])
    expect(await alerts.retry(id, 5_000), id).toBe(id === "dead");
  expect(await alerts.due("ops", 5_000, 9)).toMatchObject([
    { id: "dead", attempts: 0, nextAt: 5_000, lastError: "HTTP 404", endedAt: null },
  ]);
});

test("retrying a target's failed and dead deliveries makes them due and clears errors", async () => {
  const alerts = await storeWith(
    "failed",
    "dead",
    delivery("digest", { nextAt: 9_000 }),
    delivery("other", { target: "phone" }),
  );
  for (const id of ["failed", "other"]) await alerts.failed(id);
  await alerts.died("dead");
  await alerts.retryFailed("ops", 5_000);
  expect(await alerts.due("ops", 5_000, 9)).toMatchObject([
    { id: "failed", attempts: 1, lastError: null },
    { id: "dead", attempts: 0, lastError: null, endedAt: null },
  ]);
  expect(await alerts.dueIds(5_000, "phone")).toEqual([]);
});

test("alert deliveries planned while the clock was years ahead are due at once", async () => {
  const day = 86_400_000;
  const { dueIds } = await storeWith(
    delivery("far", { nextAt: 9_000 * day }),
    delivery("tomorrow", { nextAt: day }),
    "now",
  );
  expect(await dueIds(1_000)).toEqual(["now", "far"]);
});

test("an alert rule's empty state is deleted; a switched-off target stays off until it is switched on", async () => {
  const alerts = await storeWith();
  const project = { ...failing, agent: "" };
  await alerts.record({ states: [failing, project], deliveries: [] });
  await alerts.record({ states: [{ ...failing, value: null }], deliveries: [] });
  expect(alerts.states()).toEqual([project]);
  const why = { at: 2, reason: "HTTP 410 Gone" };
  await alerts.switchOff("ops", { at: 1, reason: "HTTP 410" });
  await alerts.switchOff("ops", why);
  expect([...alerts.switchedOff()]).toEqual([["ops", why]]);
  await alerts.switchOff("ops", null);
  expect([...alerts.switchedOff()]).toEqual([]);
});

test("pruning a store that is too large skips waiting alerts and deletes younger history", async () => {
  const many = Array.from({ length: 900 }, (_, index) => `w${index}`);
  const alerts = await storeWith(...many, delivery("sent", { at: 2_000 }));
  await alerts.sent("sent");
  expect(await alerts.prune({ now: 3_000, days: 14, maxBytes: 1 })).toBe(1);
  expect(alerts.targetDeliveries().get("ops")).toMatchObject({ waiting: 900, dead: 0 });
});

test("pruning the history deletes ended alert deliveries and keeps waiting ones", async () => {
  const alerts = await storeWith("waits", "sent");
  await alerts.sent("sent");
  expect(await alerts.prune({ now: 30 * 86_400_000, days: 14, maxBytes: 1e12 })).toBe(1);
  expect(alerts.stored()).toMatchObject([{ id: "waits" }]);
});
