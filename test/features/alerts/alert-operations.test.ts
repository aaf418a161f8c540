import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import type {
  Acknowledgement,
  Delivery,
  TargetAnswer,
} from "../../../src/features/alerts/rules/alert.ts";
import type { AlertOperationsDeps } from "../../../src/features/alerts/alerts.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { createStatusStore } from "../../../src/foundation/scheduler/status-store.ts";
import { createAgentCounts } from "../../../src/runtime/runs/agent-counts.ts";
import { createAlertOperations } from "../../../src/features/alerts/alert-operations.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { schedulerStatus } from "../../streams/status/board.ts";
import { anAlert, aTarget } from "./rules/alerts.ts";

const secret = "hunter2-hunter2";
const hour = 3_600_000;

const alert = anAlert({ reason: `token ${secret} was refused` });

function delivery(id: string, target = "ops"): Delivery {
  return { id, at: 0, target, alert, nextAt: hour };
}

test("alert counts for some agents include all their dead deliveries, and are cached until the alerts change", async () => {
  const store = tempStore().tables(createAlertStore);
  const made = { ...delivery("quiet"), alert: { ...alert, agent: "quiet" } };
  const others = Array.from({ length: 250 }, (_, n) => delivery(`loud-${n}`));
  const deliveries = [made, { ...made, id: "gone", target: "gone" }, ...others];
  await store.record({ states: [], deliveries });
  for (const { id } of deliveries) await store.attempted(id, { type: "dead", at: 1, error: "no" });
  const status = createStatusStore(schedulerStatus, () => ({}));
  let reads = 0;
  const deadByAgent = (targets: readonly string[]) => ((reads += 1), store.deadByAgent(targets));
  const deps = {
    store: { ...store, deadByAgent },
    open: () => [],
    targets: () => [aTarget("ops")],
  };
  const countsOf = createAgentCounts({ status, alerts: deps });
  const isQuiet = (agent: string | null) => agent === "quiet";
  for (let update = 0; update < 3; update += 1) {
    expect(countsOf(isQuiet)).toEqual({ alerts: { open: 0, dead: 1 }, questions: 0 });
    status.apply({ type: "scheduler", patch: { running: update } });
  }
  expect(reads).toBe(1);
  status.apply({ type: "scheduler", patch: { alerts: { open: 0, dead: 251 } } });
  countsOf(isQuiet);
  expect(reads).toBe(2);
});

function setUp(names: readonly string[] = ["ops", "pager"]) {
  const alerts = tempStore().tables(createAlertStore);
  const redactor = createRedactor();
  redactor.add([secret]);
  const tested: string[] = [];
  const answers: TargetAnswer[] = [];
  const acknowledged: unknown[] = [];
  let ack: Acknowledgement | null = null;
  const deps: AlertOperationsDeps = {
    store: alerts,
    open: () => [
      { agent: "dev", topic: "runs", since: hour, count: 3, reason: alert.reason, ack },
      { agent: null, topic: "config", since: hour, count: 1, reason: null, ack: null },
    ],
    targets: () => names.map((name) => aTarget(name)),
    test: (name) => {
      tested.push(name);
      return Promise.resolve(answers.shift() ?? { type: "accepted" });
    },
    acknowledge: (agent, topic, given) => {
      acknowledged.push([agent, topic]);
      ack = given;
      return Promise.resolve();
    },
    retry: (id) => alerts.retry(id, 5 * hour),
  };
  const operations = createAlertOperations(deps, redactor);
  const record = (...deliveries: Delivery[]) => alerts.record({ states: [], deliveries });
  return { alerts, operations, record, tested, answers, acknowledged };
}

const all = { limit: 50 };

test("a delivery has its alert in one line, its attempts and its error, without secrets", async () => {
  const { alerts, operations, record } = setUp();
  await record(delivery("a"));
  await alerts.attempted("a", { type: "retry", nextAt: 2 * hour, error: `401 for ${secret}` });
  expect(operations.page(all).deliveries).toEqual([
    {
      id: "a",
      at: "1970-01-01T00:00:00.000Z",
      target: "ops",
      agent: "dev",
      topic: "runs",
      phase: "opened",
      title: "dev failed",
      instanceId: "dev-abcdefgh",
      reason: "token [redacted] was refused",
      state: "waiting",
      attempts: 1,
      nextAt: "1970-01-01T02:00:00.000Z",
      lastError: "401 for [redacted]",
      endedAt: null,
    },
  ]);
  await alerts.attempted("a", { type: "dead", at: 3 * hour, error: "HTTP 404" });
  expect(operations.page(all).deliveries).toMatchObject([
    { state: "dead", attempts: 2, nextAt: null, endedAt: "1970-01-01T03:00:00.000Z" },
  ]);
});

test("an open alert has its reason, without secrets", () =>
  expect(setUp().operations.page(all).open).toMatchObject([
    { agent: "dev", since: "1970-01-01T01:00:00.000Z", reason: "token [redacted] was refused" },
    { agent: null, topic: "config", reason: null },
  ]));

test("open alerts are acknowledged by agent and topic, with who did it and when", async () => {
  const { operations, acknowledged } = setUp();
  const until = "1970-01-01T05:00:00.000Z";
  await operations.acknowledge({ agent: "dev", by: "anna", until });
  expect(operations.page(all).open).toMatchObject([
    { agent: "dev", ack: { by: "anna", at: expect.stringMatching(/^20/) as string, until } },
    { agent: null, ack: null },
  ]);
  await operations.acknowledge({ agent: "dev", topic: "runs", undo: true });
  expect(operations.page(all).open).toMatchObject([{ ack: null }, { ack: null }]);
  for (const which of [{ agent: "cat" }, { agent: "dev", topic: "config" } as const]) {
    const refused = operations.acknowledge(which);
    await expect(refused).rejects.toMatchObject({ code: "unknown_alert" });
  }
  expect(acknowledged).toEqual([
    ["dev", null],
    ["dev", "runs"],
  ]);
});

test("an alert target is ok until it fails, and off once it rejected everything", async () => {
  const { alerts, operations, record } = setUp();
  const states = () => operations.page(all).targets;
  const name = { name: "ops", type: "slack" };
  const healthy = { state: "ok", waiting: 0, dead: 0, lastError: null, offSince: null };
  expect(states()).toEqual([
    { ...name, ...healthy },
    { ...name, name: "pager", ...healthy },
  ]);
  await record(delivery("a"), delivery("b"), delivery("of a target that is gone", "old"));
  const failed = { type: "retry", nextAt: hour, error: `no ${secret}` } as const;
  await alerts.attempted("a", failed);
  const failing = { ...name, waiting: 2, dead: 0, lastError: "no [redacted]" };
  expect(states()).toMatchObject([{ ...failing, state: "failing", offSince: null }, healthy]);
  await alerts.switchOff("ops", { at: hour, reason: `gone: ${secret}` });
  const off = { state: "off", lastError: "gone: [redacted]", offSince: "1970-01-01T01:00:00.000Z" };
  expect(states()).toMatchObject([{ ...failing, ...off }, healthy]);
  await alerts.switchOff("ops", null);
  await alerts.attempted("b", { type: "dead", at: hour, error: "HTTP 404" });
  expect(states()).toMatchObject([{ waiting: 1, dead: 1, lastError: "no [redacted]" }, healthy]);
  await alerts.attempted("a", { type: "sent", at: 2 * hour });
  expect(states()).toMatchObject([{ state: "ok", waiting: 0, dead: 1, lastError: null }, healthy]);
});

test("pages of alerts list each delivery once, filtered by state or target", async () => {
  const { alerts, operations, record } = setUp();
  await record(delivery("a"), delivery("b", "pager"), delivery("c"), delivery("d"));
  await alerts.attempted("c", { type: "sent", at: hour });
  const ids = (query: object) => {
    const { deliveries, next } = operations.page({ ...all, ...query });
    return [deliveries.map(({ id }) => id).join(""), next];
  };
  expect(ids({ limit: 3 })).toEqual(["dcb", "b"]);
  expect(ids({ limit: 3, before: "b" })).toEqual(["a", null]);
  expect(ids({ limit: 4 })).toEqual(["dcba", null]);
  expect(ids({ state: "waiting", target: "ops" })).toEqual(["da", null]);
  expect(ids({ state: "waiting", target: "ops", limit: 1 })).toEqual(["d", "d"]);
});

test("all dead alerts are retried, however many, and each once; retrying an unknown one is rejected", async () => {
  const { alerts, operations, record } = setUp();
  const ids = Array.from({ length: 401 }, (_, index) => `dead ${index}`);
  await record(...ids.map((id) => delivery(id)), delivery("waits"));
  const dead = { type: "dead", at: hour, error: "HTTP 404" } as const;
  await Promise.all(ids.map((id) => alerts.attempted(id, dead)));
  expect(await operations.retryAll()).toBe(401);
  expect(alerts.list({ state: "dead", limit: 1 })).toEqual([]);
  expect(await operations.retryAll()).toBe(0);
  const unknown = operations.retry("unknown");
  await expect(unknown).rejects.toMatchObject({ code: "unknown_delivery" });
});

test("a test alert resolves with the target's answer, without secrets; one for an unknown target is not sent", async () => {
  const { operations, tested, answers } = setUp();
  expect(await operations.test("ops")).toEqual({ accepted: true, error: null });
  answers.push({ type: "gone", error: `410 for ${secret}` });
  const gone = { accepted: false, error: "410 for [redacted]" };
  expect(await operations.test("pager")).toEqual(gone);
  await expect(operations.test("opps")).rejects.toMatchObject({
    code: "unknown_target",
    message: 'there is no target "opps" of alerts; config.toml has ops, pager',
  });
  const none = setUp([]).operations.test("ops");
  await expect(none).rejects.toThrow("config.toml has none");
  expect(tested).toEqual(["ops", "pager"]);
});
