import { downCommand } from "../../../src/features/alerts/alerts.ts";
import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import type { TargetAnswer } from "../../../src/features/alerts/rules/alert.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { claimed, cronItem, manualItem, tempStore } from "../../foundation/store/support.ts";
import { alertsWorld } from "./alerts-world.ts";
import { accepted, deliveryOf } from "./sender-world.ts";

const item = manualItem("1");
const failing = {
  type: "finished",
  agent: "dev",
  at: 2,
  item,
  instanceId: "dev-1",
  startedAt: 1,
  end: { outcome: "failed", exitCode: 1, reason: "no", usage: null },
} as const satisfies RunEvent;

test("an alert is sent with a link once its event is stored", async () => {
  const { store, alerts, sent, counts, live, elapse } = alertsWorld();
  live();
  await claimed(store, item, "dev-1");
  const also = alerts.onEvent(failing);
  expect(sent).toEqual([]);
  await store.work.end(item, failing, also);
  await expect
    .poll(() => (elapse(), sent))
    .toMatchObject([
      {
        message: {
          alert: { topic: "runs", agent: "dev" },
          project: "acme",
          url: "https://al.example.test/al/dashboard/agents/dev/runs/dev-1",
        },
      },
    ]);
  await expect.poll(() => (elapse(250), counts.at(-1))).toEqual({ open: 1, dead: 0 });
});

test("downtimes that an earlier scheduler counted are alerted an hour after the last such alert", async () => {
  const store = tempStore();
  const fault = { reason: "it was stopped", outcome: null, instanceId: null, costUsd: null };
  const state = { since: minutesAgo(1), count: 2, alertedAt: minutesAgo(60) + 1, fault };
  const value = JSON.stringify(state);
  const states = [{ agent: "", rule: "scheduler_down", value }];
  await store.tables(createAlertStore).record({ states, deliveries: [] });
  const { sent, live, elapse } = alertsWorld({ store });
  live();
  await expect
    .poll(() => (elapse(), sent))
    .toMatchObject([{ message: { alert: { topic: "scheduler_down", count: 2 } } }]);
});

test("acknowledging an alert stores the person before the operation resolves", async () => {
  const { alertStore, alerts, live } = alertsWorld();
  live();
  alerts.onEvent(failing)?.();
  const state = (): unknown => JSON.parse(alertStore.states()[0]?.value ?? "{}");
  const ack = { by: "anna", at: 5, until: null };
  await alerts.operations.acknowledge("dev", "runs", ack);
  expect(state()).toMatchObject({ ack });
  expect(alerts.operations.open()).toMatchObject([{ agent: "dev", ack }]);
  await alerts.operations.acknowledge("dev", null, null);
  expect(state()).toMatchObject({ ack: null });
});

test("an alert about a lost run counts the run once even if the recovery transaction is retried", () => {
  const { alerts, stored } = alertsWorld();
  const lost = [
    { item: cronItem("1"), instanceId: "dev-1", outcome: "lost", retry: null },
  ] as const;
  alerts.onLost(lost);
  const once = stored();
  alerts.onLost(lost);
  expect(stored()).toEqual(once);
  expect(alerts.operations.open()).toMatchObject([{ topic: "runs", count: 1 }]);
});

test("undelivered alerts to a target that was removed from the config are not counted", async () => {
  const { alertStore, counts, live } = alertsWorld();
  const ids = ["1@ops", "2@gone"];
  await alertStore.record({ states: [], deliveries: ids.map(deliveryOf) });
  for (const id of ids) await alertStore.attempted(id, { type: "dead", at: 1, error: "HTTP 404" });
  live();
  expect(counts.at(-1)).toEqual({ open: 0, dead: 1 });
});

test("a failure of the store is logged as a warning, and later alerts are counted", async () => {
  const { store, alertStore, alerts, counts, problems, live } = alertsWorld();
  const reading = vi.spyOn(alertStore, "targetDeliveries").mockImplementation(() => {
    throw new Error("disk I/O error");
  });
  live();
  expect([problems, counts]).toEqual([["alerts can't be counted: disk I/O error"], []]);
  reading.mockRestore();
  await store.work.record(alerts.onEvent(failing) ?? (() => undefined));
  await expect.poll(() => counts.length).toBeGreaterThan(0);
});

test("a switched-off target that accepts a test alert is switched on, and gets the alerts that it missed", async () => {
  let answer: TargetAnswer = { type: "gone", error: "it answered 410" };
  const { alertStore, alerts, live } = alertsWorld({ send: () => Promise.resolve(answer) });
  const deliveries = ["1@ops", "2@ops", "3@phone"].map(deliveryOf);
  await alertStore.record({ states: [], deliveries });
  live();
  const all = (state: "dead" | "sent") => alertStore.list({ state, limit: 9 }).map(({ id }) => id);
  await expect.poll(() => all("dead").length).toBe(3);
  expect(await alerts.operations.test("ops")).toEqual(answer);
  expect(alertStore.switchedOff().has("ops")).toBe(true);
  answer = accepted;
  expect(await alerts.operations.test("ops")).toEqual(accepted);
  expect(alertStore.switchedOff().has("ops")).toBe(false);
  expect(alertStore.targetDeliveries().get("ops")).toMatchObject({ dead: 0, lastError: null });
  await expect.poll(() => all("sent")).toEqual(["2@ops", "1@ops"]);
  expect(all("dead")).toEqual(["3@phone"]);
  expect(await alerts.operations.test("phone")).toMatchObject({
    type: "failed",
    error: "the project has no [alerts.phone]",
  });
});

const now = Date.parse("2026-11-22T12:00:00Z");
const minutesAgo = (minutes: number) => now - minutes * 60_000;

const down = (minutes: number, crashed: boolean) => ({
  type: "scheduler-down",
  downMs: minutes * 60_000,
  crashed,
});

test.each<[string, object | null, number | null, number | null]>([
  ["was stopped", down(30, false), 31, 30],
  ["died", down(1, true), 1, null],
  ["was restarted within a minute", null, 1.5, 1],
  ["never ran", null, null, null],
])("downCommand for an earlier scheduler that %s returns %j", (_what, command, alive, stopped) => {
  const at = (ago: number | null) => ago && minutesAgo(ago);
  expect(downCommand({ aliveAt: at(alive), stoppedAt: at(stopped) }, now)).toEqual(command);
});
