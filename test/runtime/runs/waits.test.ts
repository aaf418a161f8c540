import { randomUUID } from "node:crypto";
import type { Acceptance } from "../../../src/foundation/store/receipts.ts";
import type { WebhookEvent } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import { webhookItem } from "../../foundation/store/support.ts";
import { createWorld, type World } from "./world.ts";
import { instancesOf } from "./of-world.ts";

const agents = [
  anAgent("a", { timeoutSeconds: 900, runtime: { type: "container", runAs: "$USER" } }),
  anAgent("b"),
];

async function started(): Promise<{ world: World; run: string }> {
  const world = createWorld({ agents: [anAgent("a"), anAgent("b")] });
  await world.start();
  return { world, run: await world.run("a") };
}

function eventOf(event: string, receiptId: string): WebhookEvent {
  const { trigger } = webhookItem("", receiptId);
  if (trigger.kind !== "webhook") throw new Error("no webhook");
  return { ...trigger.event, event };
}

/** What the receiver does with a delivery that no filter lets through; the agents that took it. */
async function deliver(
  world: World,
  event: string,
  payload: unknown = {},
  meanwhile = (): void => undefined,
): Promise<string[]> {
  const id = randomUUID();
  const runMatch = world.requests.matchDelivery(eventOf(event, id), payload);
  const receipt: Acceptance["receipt"] = {
    id,
    at: 1,
    source: "gh",
    type: "github",
    deliveryId: id,
    headers: {},
    body: new Uint8Array(),
    matched: [],
    reason: null,
  };
  const taken = runMatch.waitingRuns.map((by) => ({
    item: webhookItem(randomUUID(), id, by.agent),
    by,
    startsRun: true,
  }));
  const accepting = world.store.receipts.accept({ receipt, items: [], taken, deadLetters: [] });
  meanwhile();
  const accepted = await accepting;
  runMatch.deliver(true);
  if (!accepted.duplicate) world.dispatch(accepted.queued);
  return runMatch.waitingRuns.map(({ instanceId }) => instanceId);
}

const waitsFor = (world: World, n: number) =>
  expect.poll(() => world.store.waits.all()).toHaveLength(n);
/** A wait is stored, then listens. */
const nextTurns = () => new Promise((resolve) => setTimeout(resolve, 20));

test("a wait is met by its delivery, with all of it", async () => {
  const { world, run } = await started();
  const where = { "issue.number": 7 };
  const waiting = world.ask(run, "wait", { kind: "webhook", event: "issues", where });
  await waitsFor(world, 1);
  await nextTurns();
  expect(await deliver(world, "issues", { issue: { number: 8 } })).toEqual([]);
  expect(await deliver(world, "issues", { issue: { number: 7 } })).toEqual([run]);
  expect(await waiting).toMatchObject({
    ok: true,
    timedOut: false,
    trigger: { kind: "webhook", event: "issues", payload: { issue: { number: 7 } } },
  });
  const texts = world.events.flatMap((one) => (one.type === "status-text" ? [one.text] : []));
  expect(texts).toEqual(["waits for the webhook issues", ""]);
  expect(world.store.waits.all()).toEqual([]);
  expect(instancesOf(world, "a")).toEqual([run]);
  expect(world.history().find(({ kind }) => kind === "webhook")).toMatchObject({
    instanceId: run,
    outcome: "succeeded",
    deadLetter: false,
    reason: `taken by ${run}, which waited for it`,
  });
});

test("a wait accepts nothing once its run has ended, and the delivery starts another", async () => {
  const { world, run } = await started();
  void world.ask(run, "wait", { kind: "webhook" }).catch(() => undefined);
  await waitsFor(world, 1);
  await nextTurns();
  await deliver(world, "issues", {}, () => world.end(run));
  await expect.poll(() => instancesOf(world, "a")).toHaveLength(2);
  const found = world.history().filter(({ kind }) => kind === "webhook");
  expect(found).toMatchObject([{ instanceId: instancesOf(world, "a")[1], outcome: null }]);
});

test("a wait is rejected for a delivery that is nested too deeply to be serialized", async () => {
  const { world, run } = await started();
  const waiting = world.ask(run, "wait", { kind: "webhook" });
  await waitsFor(world, 1);
  await nextTurns();
  const levels = 20_000;
  const deep: unknown = JSON.parse(`{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`);
  expect(await deliver(world, "issues", deep)).toEqual([run]);
  expect(JSON.stringify(await waiting)).toContain("[too deep]");
});

test("a wait is met by a call, which then starts no run", async () => {
  const { world, run } = await started();
  const waiting = world.ask(run, "wait", { kind: "agent-call", where: { ready: true } });
  await waitsFor(world, 1);
  await nextTurns();
  const caller = await world.run("b");
  const context = JSON.stringify({ ready: true });
  const { callId, state } = await world.ask(caller, "call", { agent: "a", context });
  expect(state).toBe("ended");
  expect(await waiting).toMatchObject({ trigger: { callId, caller: "b", context } });
  const { calls } = await world.ask(caller, "call-wait", { callIds: [callId] });
  expect(calls).toMatchObject([{ state: "ended", outcome: "succeeded" }]);
  expect(instancesOf(world, "a")).toEqual([run]);
});

test("a wait is met by work in its agent's queue, which then starts no run", async () => {
  const { world, run } = await started();
  const delivery = webhookItem("w", "r", "a");
  const receipt: Acceptance["receipt"] = {
    id: "r",
    at: 1,
    source: "gh",
    type: "github",
    deliveryId: "d",
    headers: { "content-type": "application/json", "x-github-event": "push" },
    body: Buffer.from('{"stored":true}'),
    matched: ["a"],
    reason: null,
  };
  const accepted = { receipt, items: [delivery], taken: [], deadLetters: [] };
  await world.store.receipts.accept(accepted);
  world.inputs.webhook$.next(delivery);
  const caller = await world.run("b");
  const { callId, state } = await world.ask(caller, "call", { agent: "a", context: "x" });
  expect(state).toBe("queued");
  const waiting = world.ask(caller, "call-wait", { callIds: [callId] });
  const called = await world.ask(run, "wait", { kind: "agent-call", source: "b" });
  expect(called).toMatchObject({ trigger: { callId } });
  expect(await waiting).toMatchObject({ calls: [{ state: "ended", outcome: "succeeded" }] });
  const where = { stored: true };
  const delivered = await world.ask(run, "wait", { kind: "webhook", where });
  expect(delivered).toMatchObject({ trigger: { receiptId: "r", payload: { stored: true } } });
  world.end(run);
  await nextTurns();
  expect(instancesOf(world, "a")).toEqual([run]);
  expect(world.problems).toEqual([]);
  expect(world.events.filter(({ type }) => type === "taken")).toHaveLength(2);
});

test("a wait ends at its timeout, with the same answer when repeated", async () => {
  const { world, run } = await started();
  const key = randomUUID();
  const asked = { kind: "webhook", timeoutSeconds: 0.05 } as const;
  const told = { ok: true, timedOut: true, trigger: null };
  expect(await world.ask(run, "wait", asked, { key })).toEqual(told);
  expect(await world.ask(run, "wait", asked, { key })).toEqual(told);
});

test("a wait lasts at most the agent's limit, and all together at most ten times that", async () => {
  const world = createWorld({ agents: [anAgent("a", { waitTimeoutSeconds: 0.03 })] });
  await world.start();
  const run = await world.run("a");
  const began = Date.now();
  for (let n = 0; n < 30; n++) await world.ask(run, "wait", { kind: "webhook" });
  const took = Date.now() - began;
  expect(took).toBeGreaterThan(250);
  const [entry] = world.store.openRuns();
  expect(entry?.waitedMs).toBeGreaterThanOrEqual(300);
  expect(entry?.waitedMs).toBeLessThanOrEqual(took);
  const added = vi.spyOn(world.store.waits, "add");
  await world.ask(run, "wait", { kind: "webhook", timeoutSeconds: 60 });
  const [{ since, until } = { since: 0, until: 1 }] = added.mock.lastCall ?? [];
  expect(until - since).toBe(0);
});

test("a wait accepts nothing once it is cancelled", async () => {
  const { world, run } = await started();
  const key = randomUUID();
  const waiting = world.ask(run, "wait", { kind: "webhook" }, { key });
  waiting.catch(() => undefined);
  await waitsFor(world, 1);
  await nextTurns();
  await world.ask(run, "cancel", {}, { key });
  expect(await deliver(world, "push")).toEqual([]);
  await waitsFor(world, 0);
  await expect(waiting).rejects.toThrow("no longer waits");
});

test("a wait freezes an idle run, and thaws it before its answer", async () => {
  const { world, run } = await started();
  const waiting = world.ask(run, "wait", { kind: "webhook" });
  await expect.poll(() => world.frozen).toEqual([`freeze ${run}`]);
  await deliver(world, "push");
  await waiting;
  expect(world.frozen).toEqual([`freeze ${run}`, `thaw ${run}`]);
});

test("a wait neither freezes a run that also waits for something else nor pauses its clock", async () => {
  const { world, run } = await started();
  const other = await world.run("b");
  await world.ask(other, "lock", { resource: "file:x" });
  // It was paused until the run's turn to start.
  const { clock } = world.runs.get(run);
  const before = clock.waitedMs();
  const lock = world.ask(run, "lock", { resource: "file:x", waitSeconds: 60 });
  const waiting = world.ask(run, "wait", { kind: "webhook", timeoutSeconds: 0.1 });
  await waiting;
  expect(world.frozen).toEqual([]);
  expect(clock.waitedMs()).toBe(before);
  await world.ask(other, "unlock", { resource: "file:x" });
  await lock;
});

test("a wait does not outlive its run", async () => {
  const { world, run } = await started();
  const waiting = world.ask(run, "wait", { kind: "webhook" });
  waiting.catch(() => undefined);
  await waitsFor(world, 1);
  world.end(run);
  await expect(waiting).rejects.toThrow("over");
  await waitsFor(world, 0);
  expect(await deliver(world, "push")).toEqual([]);
});

describe("after a restart", () => {
  const asked = { kind: "webhook", timeoutSeconds: 60 } as const;

  /** A scheduler after the crash of one whose run waited. */
  async function restarted() {
    const { world, run } = await started();
    const key = randomUUID();
    void world.ask(run, "wait", asked, { key }).catch(() => undefined);
    await waitsFor(world, 1);
    await nextTurns();
    world.crash();
    const next = createWorld({ agents }, world.dir, [run]);
    await next.start();
    return { next, run, key };
  }

  test("a live run is met by a delivery that comes before it repeats its request", async () => {
    const { next, run, key } = await restarted();
    const texts = () =>
      next.events.flatMap((one) => (one.type === "status-text" ? [one.text] : []));
    await expect.poll(texts).toEqual(["waits for a webhook"]);
    expect(await deliver(next, "push", { n: 1 })).toEqual([run]);
    expect(await next.ask(run, "wait", asked, { key })).toMatchObject({
      trigger: { event: "push", payload: { n: 1 } },
    });
  });

  test("a live run still waits when it repeats its request, with its clock paused", async () => {
    const { next, run, key } = await restarted();
    const waiting = next.ask(run, "wait", asked, { key });
    await expect.poll(() => next.frozen).toEqual([`freeze ${run}`]);
    await deliver(next, "push");
    expect(await waiting).toMatchObject({ timedOut: false });
    expect(next.store.openRuns()[0]?.waitedMs).toBeGreaterThanOrEqual(20);
  });
});
