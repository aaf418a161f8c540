import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import { Subject } from "rxjs";
import { createAlerts, downCommand } from "../../../src/features/alerts/alerts.ts";
import type { AlertCounts, AlertsDeps } from "../../../src/features/alerts/alerts.ts";
import type { AlertMessage, TargetAnswer } from "../../../src/features/alerts/rules/alert.ts";
import { createClock } from "../../../streams/clock.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { VirtualCalendar } from "../../helpers/marbles.ts";
import { cronItem, manualItem, requestFor, tempStore } from "../../foundation/store/support.ts";
import { aTarget, defaultOptions } from "./rules/alerts.ts";
import { noQuestions } from "./samples.ts";
import { accepted, deliveryOf, failed } from "./sender-world.ts";

function setUp(changed: Partial<AlertsDeps> = {}, answer: TargetAnswer = accepted) {
  const store = tempStore();
  const alertStore = store.tables(createAlertStore);
  const sent: AlertMessage[] = [];
  const counts: AlertCounts[] = [];
  const calendar = new VirtualCalendar("2026-11-22T12:00:00Z");
  const targets$ = new Subject<unknown>();
  const alerts = createAlerts({
    store: alertStore,
    targets: () => [aTarget("ops")],
    changed$: targets$,
    optionsOf: () => defaultOptions,
    clock: createClock(calendar),
    send: (message) => {
      sent.push(message);
      return Promise.resolve(answer);
    },
    projectName: "acme",
    origin: () => "https://al.example.test/",
    timezone: () => "UTC",
    questions: noQuestions,
    earlier: { aliveAt: null, stoppedAt: null },
    onCounts: (one) => counts.push(one),
    warn: () => undefined,
    ...changed,
  });
  const live = (): void => {
    const subscription = alerts.effect$.subscribe();
    onTestFinished(async () => {
      subscription.unsubscribe();
      await alerts.close();
    });
  };
  const elapse = (): void => calendar.runUntil(new Date(calendar.now() + 1_000).toISOString());
  return { store, alertStore, alerts, sent, counts, live, elapse };
}

const failing = (agent: string): RunEvent => {
  const end = { outcome: "failed", exitCode: 1, reason: "no", usage: null } as const;
  const item = manualItem("1", agent);
  return { type: "finished", agent, at: 2, item, instanceId: `${agent}-1`, startedAt: 1, end };
};

test("an alert is sent once the record of its event is committed, with a link", async () => {
  const { store, alerts, sent, counts, live, elapse } = setUp();
  live();
  const item = manualItem("1");
  await store.work.enqueue([item]);
  await store.work.claim(requestFor(item, "dev-1"));
  const event = failing("dev");
  if (event.type !== "finished") throw new Error("no end");
  const also = alerts.onEvent(event);
  expect(sent).toEqual([]);
  await store.work.end(item, event, also);
  await expect.poll(() => (elapse(), sent.length)).toBe(1);
  expect(sent[0]).toMatchObject({
    alert: { topic: "runs", agent: "dev" },
    project: "acme",
    url: expect.stringMatching(/^https:\/\/al\.example\.test\/dashboard\/agents\/dev/) as string,
  });
  await expect.poll(() => (elapse(), counts.at(-1))).toEqual({ open: 1, dead: 0 });
});

test("occurrences that an earlier scheduler counted for the project are alerted in time", async () => {
  const store = tempStore().tables(createAlertStore);
  const fault = { reason: "it was stopped", outcome: null, instanceId: null, costUsd: null };
  const state = { since: now - 60_000, count: 2, alertedAt: now - 3_599_999, fault };
  const value = JSON.stringify(state);
  await store.record({ states: [{ agent: "", rule: "scheduler_down", value }], deliveries: [] });
  const { sent, live, elapse } = setUp({ store });
  live();
  await expect.poll(() => (elapse(), sent.length)).toBe(1);
  expect(sent[0]).toMatchObject({ alert: { topic: "scheduler_down", count: 2 } });
});

test("who acknowledged an alert is stored before the operation resolves", async () => {
  const { alertStore, alerts, live } = setUp();
  live();
  alerts.onEvent(failing("dev"))?.();
  const ack = { by: "anna", at: 5, until: null };
  await alerts.operations.acknowledge("dev", "runs", ack);
  expect(JSON.parse(alertStore.states()[0]?.value ?? "null")).toMatchObject({ ack });
  expect(alerts.operations.open()).toMatchObject([{ agent: "dev", ack }]);
  await alerts.operations.acknowledge("dev", null, null);
  expect(JSON.parse(alertStore.states()[0]?.value ?? "{}")).toMatchObject({ ack: null });
});

test("a retried recovery transaction counts a lost run once", () => {
  const { alertStore, alerts } = setUp();
  const lost = [
    { item: cronItem("1"), instanceId: "dev-1", outcome: "lost", retry: null },
  ] as const;
  alerts.onLost(lost);
  const once = alertStore.list({ before: null, limit: 9 });
  alerts.onLost(lost);
  expect(alertStore.list({ before: null, limit: 9 })).toEqual(once);
  expect(alerts.operations.open()).toMatchObject([{ topic: "runs", count: 1 }]);
});

test("dead deliveries to a target that was removed from the config are not counted", async () => {
  const { alertStore, counts, live } = setUp();
  await alertStore.record({ states: [], deliveries: [deliveryOf("1@ops"), deliveryOf("2@gone")] });
  for (const id of ["1@ops", "2@gone"])
    await alertStore.attempted(id, { type: "dead", at: 1, error: "HTTP 404" });
  live();
  expect(counts.at(-1)).toEqual({ open: 0, dead: 1 });
});

test("a failing store is a warning, and later alerts are counted", async () => {
  const problems: string[] = [];
  const { store, alertStore, alerts, counts, live } = setUp({
    warn: (problem) => problems.push(problem),
  });
  let isAway = true;
  const counted = alertStore.targetDeliveries();
  Object.assign(alertStore, {
    targetDeliveries: () => {
      if (isAway) throw new Error("disk I/O error");
      return counted;
    },
  });
  live();
  expect([problems, counts]).toEqual([["alerts can't be counted: disk I/O error"], []]);
  isAway = false;
  await store.work.record(alerts.onEvent(failing("dev")) ?? (() => undefined));
  await expect.poll(() => counts.length).toBeGreaterThan(0);
});

test("an accepted test switches its target on again; a rejected one does not", async () => {
  const off = { at: 1, reason: "HTTP 410" };
  const refused = setUp({}, { type: "gone", error: "HTTP 410" });
  await refused.alertStore.switchOff("ops", off);
  expect(await refused.alerts.operations.test("ops")).toMatchObject({ type: "gone" });
  expect(refused.alertStore.switchedOff().has("ops")).toBe(true);
  const { alertStore, alerts } = setUp();
  await alertStore.switchOff("ops", off);
  expect(await alerts.operations.test("ops")).toEqual(accepted);
  expect(alertStore.switchedOff().has("ops")).toBe(false);
  expect(await alerts.operations.test("phone")).toMatchObject({
    type: "failed",
    error: "the project has no [alerts.phone]",
  });
});

test("waiting deliveries are sent at once when their target accepts a test", async () => {
  let answer: TargetAnswer = failed();
  const { alertStore, alerts, live } = setUp({ send: () => Promise.resolve(answer) });
  await alertStore.record({ states: [], deliveries: [deliveryOf("1@ops")] });
  live();
  const stored = () => alertStore.list({ before: null, limit: 9 })[0];
  await expect.poll(() => stored()?.attempts).toBe(1);
  expect(await alerts.operations.test("ops")).toMatchObject({ type: "failed" });
  expect(stored()?.nextAt).toBeGreaterThan(now);
  answer = accepted;
  expect(await alerts.operations.test("ops")).toEqual(accepted);
  await expect.poll(stored).toMatchObject({ state: "sent", attempts: 2 });
});

test("a switched-off target that accepts a test is not failing, and gets its dead alerts", async () => {
  let answer: TargetAnswer = { type: "gone", error: "it answered 410" };
  const { alertStore, alerts, live } = setUp({ send: () => Promise.resolve(answer) });
  const deliveries = [deliveryOf("1@ops"), deliveryOf("2@ops"), deliveryOf("3@phone")];
  await alertStore.record({ states: [], deliveries });
  live();
  const dead = () => alertStore.list({ state: "dead", before: null, limit: 9 });
  await expect.poll(() => dead().length).toBe(3);
  answer = accepted;
  expect(await alerts.operations.test("ops")).toEqual(accepted);
  expect(alertStore.targetDeliveries().get("ops")).toMatchObject({ dead: 0, lastError: null });
  const sent = () => alertStore.list({ state: "sent", before: null, limit: 9 });
  await expect.poll(() => sent().map(({ id }) => id)).toEqual(["2@ops", "1@ops"]);
  expect(dead().map(({ id }) => id)).toEqual(["3@phone"]);
});

const now = Date.parse("2026-11-22T12:00:00Z");
const minutesAgo = (minutes: number): number => now - minutes * 60_000;
const down = (minutes: number, crashed: boolean) => ({
  type: "scheduler-down",
  downMs: minutes * 60_000,
  crashed,
});

test.each([
  ["was stopped", { aliveAt: minutesAgo(31), stoppedAt: minutesAgo(30) }, down(30, false)],
  ["died", { aliveAt: minutesAgo(30), stoppedAt: null }, down(30, true)],
  ["died, and was started again", { aliveAt: minutesAgo(1), stoppedAt: null }, down(1, true)],
  [
    "was stopped earlier, and then died",
    { aliveAt: minutesAgo(3), stoppedAt: minutesAgo(9) },
    down(3, true),
  ],
  ["was restarted", { aliveAt: minutesAgo(1.5), stoppedAt: minutesAgo(1) }, null],
  ["never was", { aliveAt: null, stoppedAt: null }, null],
])("a start alerts about the scheduler that %s", (_what, earlier, command) => {
  expect(downCommand(earlier, now)).toEqual(command);
});
