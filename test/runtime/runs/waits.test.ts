import { randomUUID } from "node:crypto";
import { anAgent } from "../../helpers/agents.ts";
import {
  ended,
  expectThawed,
  instancesOf,
  receiverOf,
  restarted,
  startedWorld,
  statusTexts,
  untilFrozen,
} from "./of-world.ts";
import type { World } from "./world.ts";

const agents = [anAgent("a"), anAgent("b")];
const webhook = { kind: "webhook" } as const;
/** Starts with each delivery. */
const filters = [anAgent("a", { webhooks: [{ source: "gh", type: "github", filters: {} }] })];

/** A run that waits, once it is frozen: nothing more of its wait is to come. */
async function waiting(condition: Parameters<World["ask"]>[2] = webhook) {
  const { world, run } = await startedWorld({ agents });
  const key = randomUUID();
  const wait = world.ask(run, "wait", condition as typeof webhook, { key });
  await untilFrozen(world, run);
  return { world, run, key, wait, deliver: receiverOf(world) };
}

test("a wait for a trigger returns the whole delivery, and the run is frozen until then", async () => {
  const where = { "issue.number": 7 };
  const { world, run, wait, deliver } = await waiting({ ...webhook, event: "issues", where });
  await deliver("issues", { issue: { number: 8 } });
  const receiptId = await deliver("issues", { issue: { number: 7 } });
  expect(await wait).toMatchObject({
    ok: true,
    timedOut: false,
    trigger: { kind: "webhook", event: "issues", receiptId, payload: { issue: { number: 7 } } },
  });
  expectThawed(world, run);
  expect(statusTexts(world)).toEqual(["waits for the webhook issues", ""]);
  expect(world.store.waits.all()).toEqual([]);
  expect(instancesOf(world, "a")).toEqual([run]);
});

test("a delivery that arrives after the end of the run that waited for it starts another run", async () => {
  const { world, run } = await waiting();
  const deliver = receiverOf(world, filters, {
    accept: (acceptance) => {
      const accepted = world.store.receipts.accept(acceptance);
      world.end(run);
      return accepted;
    },
  });
  await deliver("issues");
  await expect.poll(() => instancesOf(world, "a")).toHaveLength(2);
  const found = world.history().filter(({ kind }) => kind === "webhook");
  expect(found).toMatchObject([{ instanceId: instancesOf(world, "a")[1], outcome: null }]);
});

test("a wait for a trigger ends with a delivery that is too deeply nested to be serialized", async () => {
  const { wait, world } = await waiting();
  const levels = 20_000;
  const deep = JSON.parse(`{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`) as object;
  await receiverOf(world, [], {
    matchRuns: (event) => world.requests.matchDelivery(event, deep),
  })("issues");
  expect(JSON.stringify(await wait)).toContain("[too deep]");
});

test("a wait for a trigger returns an agent call, which then starts no run", async () => {
  const { world, run, wait } = await waiting({ kind: "agent-call", where: { ready: true } });
  const caller = await world.run("b");
  const context = JSON.stringify({ ready: true });
  const { callId, state } = await world.ask(caller, "call", { agent: "a", context });
  expect(state).toBe("ended");
  expect(await wait).toMatchObject({ trigger: { callId, caller: "b", context } });
  const { calls } = await world.ask(caller, "call-wait", { callIds: [callId] });
  expect(calls).toMatchObject([{ state: "ended", outcome: "succeeded" }]);
  expect(instancesOf(world, "a")).toEqual([run]);
});

test("a wait for a trigger returns queued work of the agent, which then starts no run", async () => {
  const { world, run } = await startedWorld({ agents });
  const receiptId = await receiverOf(world, filters)("push", { stored: true });
  const caller = await world.run("b");
  const { callId, state } = await world.ask(caller, "call", { agent: "a", context: "x" });
  expect(state).toBe("queued");
  const called = world.ask(caller, "call-wait", { callIds: [callId] });
  const call = await world.ask(run, "wait", { kind: "agent-call", source: "b" });
  expect(call).toMatchObject({ trigger: { callId } });
  expect(await called).toMatchObject({ calls: [{ state: "ended", outcome: "succeeded" }] });
  const delivered = await world.ask(run, "wait", { ...webhook, where: { stored: true } });
  expect(delivered).toMatchObject({ trigger: { receiptId, payload: { stored: true } } });
  await ended(world, run);
  expect(instancesOf(world, "a")).toEqual([run]);
  expect(world.problems).toEqual([]);
  expect(world.events.filter(({ type }) => type === "taken")).toHaveLength(2);
});

test("a wait for a trigger lasts at most waitTimeoutSeconds, and a run's waits together ten times that", async () => {
  const { world, run } = await startedWorld({
    agents: [anAgent("a", { waitTimeoutSeconds: 0.03 })],
  });
  const began = Date.now();
  for (let n = 0; n < 30; n++) await world.ask(run, "wait", webhook);
  const took = Date.now() - began;
  expect(took).toBeGreaterThan(250);
  const [entry] = world.store.openRuns();
  expect(entry?.waitedMs).toBeGreaterThanOrEqual(300);
  expect(entry?.waitedMs).toBeLessThanOrEqual(took);
  const added = vi.spyOn(world.store.waits, "add");
  await world.ask(run, "wait", { ...webhook, timeoutSeconds: 60 });
  const [{ since, until } = { since: 0, until: 1 }] = added.mock.lastCall ?? [];
  expect(until - since).toBe(0);
});

test.each<[string, why: string, end: (world: World, run: string, key: string) => unknown]>([
  [
    "it is cancelled",
    "no longer waits",
    (world, run, key) => world.ask(run, "cancel", {}, { key }),
  ],
  ["the run has ended", "over", (world, run) => world.end(run)],
])("a wait for a trigger gets no delivery once %s", async (_how, why, end) => {
  const { world, run, key, wait, deliver } = await waiting();
  await end(world, run, key);
  await expect(wait).rejects.toThrow(why);
  await expect.poll(() => world.store.waits.all()).toEqual([]);
  const receiptId = await deliver("push");
  expect(world.store.receipts.get(receiptId)?.matched).toEqual([]);
});

describe("after a restart", () => {
  test("a live run that repeats its wait still waits, with its timeout paused", async () => {
    const asked = { ...webhook, timeoutSeconds: 999_999 };
    const { world, run, key } = await waiting(asked);
    const next = await restarted(world, [run]);
    const wait = next.ask(run, "wait", asked, { key });
    await untilFrozen(next, run);
    const { clock } = next.runs.get(run);
    const before = clock.waitedMs();
    await expect.poll(() => clock.waitedMs()).toBeGreaterThan(before);
    await receiverOf(next)("push");
    expect(await wait).toMatchObject({ timedOut: false, limited: { askedSeconds: 999_999 } });
    expect(next.store.openRuns()[0]?.waitedMs).toBeGreaterThan(before);
  });
});
