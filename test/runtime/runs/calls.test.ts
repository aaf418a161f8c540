import { randomUUID } from "node:crypto";
import { createArtifactStore } from "../../../src/features/artifacts/artifact-store.ts";
import type { Trigger } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import type { World, WorldOptions } from "./world.ts";
import {
  expectRefusal,
  instancesOf,
  latest,
  restarted,
  startedWorld,
  statusTexts,
} from "./of-world.ts";

const agents = [anAgent("a"), anAgent("b"), anAgent("c", { scale: 200, queueSize: 200 })];

const started = (options: Partial<WorldOptions> = {}) => startedWorld({ agents, ...options });
const call = (world: World, from: string, agent: string, cancelOnExit = false) =>
  world.ask(from, "call", { agent, context: "do it", cancelOnExit });
const calls = (world: World) => world.history().filter(({ kind }) => kind === "agent-call");

test("a call runs the called agent, and returns the value of that run", async () => {
  const { world, run } = await started();
  const { callId, state } = await call(world, run, "b");
  expect(state).toBe("running");
  const waiting = world.ask(run, "call-wait", { callIds: [callId] });
  await expect.poll(() => statusTexts(world)).toEqual(["waits for b"]);
  world.end(latest(world, "b"), { value: { found: 3 } });
  const ended = { callId, agent: "b", state: "ended", outcome: "succeeded", exitCode: 0 };
  expect(await waiting).toEqual({
    ok: true,
    timedOut: false,
    calls: [{ ...ended, value: { found: 3 }, reason: null }],
  });
  expect(statusTexts(world)).toEqual(["waits for b", ""]);
});

test("a caller waits for its calls until the timeout, and can check their states", async () => {
  const { world, run } = await started();
  const callIds = [(await call(world, run, "b")).callId, (await call(world, run, "b")).callId];
  const states = { calls: [{ state: "running" }, { state: "queued" }] };
  expect(await world.ask(run, "call-check", { callIds })).toMatchObject(states);
  const waited = await world.ask(run, "call-wait", { callIds, timeoutSeconds: 0.05 });
  expect(waited).toMatchObject({ timedOut: true, ...states });
});

test("a call is visible only to the run that made it", async () => {
  const { world, run } = await started();
  const { callId } = await call(world, run, "b");
  const other = await world.run("c");
  const seen = world.ask(other, "call-wait", { callIds: [callId] });
  await expectRefusal(seen, "unknown_call");
});

describe("the files of a called run", () => {
  const file = { hash: "h", bytes: 3, kind: "text", isExecutable: false } as const;
  const files = ["a.md", "b/c.md", "b/d.md"].map((path) => ({ ...file, path }));
  const leftOut = { files: [{ path: "big", bytes: 9, why: "does not fit" }], more: 0 };

  async function called() {
    const { world, run } = await started();
    const { callId } = await call(world, run, "b");
    const callee = latest(world, "b");
    await world.store.tables(createArtifactStore).keep(callee, 1, { files, leftOut }, 100);
    const ask = (from: string, path?: string) =>
      world.ask(from, "call-files", { callId, ...(path !== undefined && { path }) });
    return { world, run, callee, ask };
  }

  test("are for its caller, once it has ended: all, a folder or one file", async () => {
    const { world, run, callee, ask } = await called();
    expect(await ask(run)).toMatchObject({ state: "running" });
    world.end(callee);
    await expect.poll(async () => (await ask(run)).state).toBe("ended");
    const answer = await ask(run);
    expect(answer.files[0]).toEqual({ path: "a.md", bytes: 3, isText: true });
    expect(answer).toMatchObject({ more: 0, leftOut: [{ path: "big", why: "does not fit" }] });
    const pathsOf = async (path: string) => (await ask(run, path)).files.map((one) => one.path);
    expect(await pathsOf("b/")).toEqual(["b/c.md", "b/d.md"]);
    expect(await pathsOf("b/c.md")).toEqual(["b/c.md"]);
    await expectRefusal(ask(run, "b/c"), "malformed");
    await expectRefusal(ask(run, "../b"), "malformed");
  });

  test("are refused to every other run, also to the called one", async () => {
    const { world, callee, ask } = await called();
    const other = await world.run("c");
    await expectRefusal(ask(other), "unknown_call");
    await expectRefusal(ask(callee), "unknown_call");
  });
});

test("a call to the caller's own agent, a call that is nested too deeply and a 101st call are rejected", async () => {
  const { world, run } = await started({ maxCallDepth: 1 });
  await expectRefusal(call(world, run, "a"), "self_call");
  await call(world, run, "b");
  await expectRefusal(call(world, latest(world, "b"), "c"), "too_deep");
  for (let n = 1; n < 100; n++) await call(world, run, "c");
  await expectRefusal(call(world, run, "c"), "too_many_calls");
});

test("a call with cancelOnExit is removed from the queue or killed when its caller ends", async () => {
  const { world, run } = await started();
  const kept = await call(world, run, "c");
  await call(world, run, "b", true);
  await call(world, run, "b", true);
  world.end(run);
  const outcomes = () => calls(world).map(({ outcome }) => outcome);
  await expect.poll(outcomes).toEqual(["rejected", "killed", null]);
  expect(calls(world).at(-1)?.callId).toBe(kept.callId);
  expect(instancesOf(world, "b")).toHaveLength(1);
});

test("a call with cancelOnExit ends even if its caller ended while making the call", async () => {
  const { world, run } = await started();
  const making = call(world, run, "b", true);
  // By then the call is allowed, and not yet committed.
  await new Promise((resolve) => setImmediate(resolve));
  world.end(run);
  await making;
  await expect.poll(() => calls(world)[0]?.outcome).toMatch(/^(killed|rejected)$/);
});

test("a caller that waits releases its slot, and gets one back before it resumes", async () => {
  const { world, run } = await started({ scale: 1 });
  const { callId, state } = await call(world, run, "b");
  expect(state).toBe("queued");
  const waiting = world.ask(run, "call-wait", { callIds: [callId] });
  await expect.poll(() => instancesOf(world, "b")).toHaveLength(1);
  await expect(world.run("c")).rejects.toThrow("queued");
  world.end(latest(world, "b"));
  await waiting;
  expect(instancesOf(world, "c")).toEqual([]);
  world.end(run);
  await expect.poll(() => instancesOf(world, "c")).toHaveLength(1);
});

describe("after a restart", () => {
  test("a caller that continues finds its calls, and still waits for them", async () => {
    const { world, run } = await started();
    const { callId } = await call(world, run, "b");
    const key = randomUUID();
    void world.ask(run, "call-wait", { callIds: [callId] }, { key });
    const next = await restarted(world, [run]);
    const waiting = next.ask(run, "call-wait", { callIds: [callId] }, { key });
    // The callee was lost, and is tried again.
    await expect.poll(() => instancesOf(next, "b")).toHaveLength(1);
    next.end(latest(next, "b"), { value: 7 });
    expect(await waiting).toMatchObject({ calls: [{ outcome: "succeeded", value: 7 }] });
  });

  test("a call whose response was lost in the crash starts no second run when it is repeated", async () => {
    const { world, run } = await started();
    const key = randomUUID();
    const once = { agent: "b", context: "once" };
    void world.ask(run, "call", once, { key });
    await expect.poll(() => calls(world), { interval: 1 }).toHaveLength(1);
    const next = await restarted(world, [run]);
    expect(await next.ask(run, "call", once, { key })).toMatchObject({ callId: key });
    await expect.poll(() => instancesOf(next, "b")).toHaveLength(1);
    next.end(latest(next, "b"));
    expect(await next.ask(run, "call-wait", { callIds: [key] })).toMatchObject({
      calls: [{ callId: key, outcome: "succeeded" }],
    });
    expect(await next.ask(run, "call", once, { key })).toMatchObject({ state: "ended" });
    expect(instancesOf(next, "b")).toHaveLength(1);
    expect(calls(next).filter(({ outcome }) => outcome !== "lost")).toHaveLength(1);
  });

  test("a queued call with cancelOnExit is not run if its caller died", async () => {
    const { world, run } = await started();
    await call(world, run, "b");
    await call(world, run, "b", true);
    const running = latest(world, "b");
    const next = await restarted(world, [running]);
    await expect.poll(() => next.history().map(({ outcome }) => outcome)).toContain("rejected");
    next.end(running);
    expect(instancesOf(next, "b")).toEqual([running]);
  });
});

const tick: Trigger = { kind: "cron", scheduledFor: 1_000 };
const again = { rerun: true };

test("a scheduled run that asks for a rerun is run again, at most maxReruns times in a row", async () => {
  const { world } = await started({ maxReruns: 2 });
  world.end(await world.run("b", tick), again);
  for (const n of [2, 3]) {
    await expect.poll(() => instancesOf(world, "b")).toHaveLength(n);
    world.end(latest(world, "b"), again);
  }
  const skipped = {
    outcome: "skipped",
    reason: "it was rerun 2 times in a row",
    deadLetter: false,
  };
  await expect.poll(() => world.history()[0]).toMatchObject({ kind: "cron", ...skipped });
});

test.each<[how: string, exit: object, trigger?: Trigger]>([
  ["asks for no rerun", {}, tick],
  ["asks for a rerun but failed", { ...again, exitCode: 1 }, tick],
  ["asks for a rerun but was started by a person", again],
])("a run is not run again when it %s", async (_how, exit, trigger) => {
  const { world } = await started();
  world.end(await world.run("b", trigger), exit);
  await expect.poll(() => world.history()[0]?.outcome).toBeTruthy();
  await world.run("c");
  expect(instancesOf(world, "b")).toHaveLength(1);
});
