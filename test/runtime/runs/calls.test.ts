import { randomUUID } from "node:crypto";
import type { Trigger } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import { createWorld, problemOf, type World, type WorldOptions } from "./world.ts";
import { instancesOf } from "./of-world.ts";

const agents = [anAgent("a"), anAgent("b"), anAgent("c", { scale: 200, queueSize: 200 })];

async function started(options: Partial<WorldOptions> = {}): Promise<World> {
  const world = createWorld({ agents, ...options });
  await world.start();
  return world;
}

const call = (world: World, from: string, agent: string, more: { cancelOnExit?: boolean } = {}) =>
  world.ask(from, "call", { agent, context: "do it", ...more });
const latest = (world: World, agent: string): string => instancesOf(world, agent).at(-1) ?? "";
const statusTexts = (world: World): string[] =>
  world.events.flatMap((event) => (event.type === "status-text" ? [event.text] : []));

test("a call runs its agent, and returns its value", async () => {
  const world = await started();
  const caller = await world.run("a");
  const { callId, state } = await call(world, caller, "b");
  expect(state).toBe("running");
  const waiting = world.ask(caller, "call-wait", { callIds: [callId] });
  const callee = latest(world, "b");
  await expect.poll(() => statusTexts(world)).toEqual(["waits for b"]);
  world.end(callee, { value: { found: 3 } });
  const ended = { callId, agent: "b", state: "ended", outcome: "succeeded", exitCode: 0 };
  expect(await waiting).toEqual({
    ok: true,
    timedOut: false,
    calls: [{ ...ended, value: { found: 3 }, reason: null }],
  });
  expect(statusTexts(world)).toEqual(["waits for b", ""]);
  const entry = world.history().find(({ kind }) => kind === "agent-call");
  expect(entry).toMatchObject({ callId, caller, source: "a", value: { found: 3 } });
});

test("a call with a lost callee is waited for through its retry", async () => {
  const world = await started();
  const caller = await world.run("a");
  const { callId } = await call(world, caller, "b");
  const waiting = world.ask(caller, "call-wait", { callIds: [callId] });
  world.end(latest(world, "b"), { exitCode: null, lost: true, error: "the engine went away" });
  await expect.poll(() => instancesOf(world, "b")).toHaveLength(2);
  world.end(latest(world, "b"), { value: "at last" });
  expect(await waiting).toMatchObject({ calls: [{ outcome: "succeeded", value: "at last" }] });
});

test("a call is waited for until its timeout, and may be checked before", async () => {
  const world = await started();
  const caller = await world.run("a");
  const one = await call(world, caller, "b");
  const two = await call(world, caller, "b");
  expect([one.state, two.state]).toEqual(["running", "queued"]);
  const callIds = [one.callId, two.callId];
  const checked = await world.ask(caller, "call-check", { callIds });
  expect(checked.calls.map(({ state }) => state)).toEqual(["running", "queued"]);
  const waited = await world.ask(caller, "call-wait", { callIds, timeoutSeconds: 0.05 });
  expect(waited).toMatchObject({ timedOut: true, calls: [{ state: "running" }, {}] });
});

test("a call is made once, however often its request is repeated", async () => {
  const world = await started();
  const caller = await world.run("a");
  const key = randomUUID();
  const asked = { agent: "b", context: "" };
  const first = await world.ask(caller, "call", asked, { key });
  const again = await world.ask(caller, "call", asked, { key });
  expect([first.callId, again]).toEqual([key, first]);
  expect(instancesOf(world, "b")).toHaveLength(1);
});

test("a call is visible to its own run only", async () => {
  const world = await started();
  const [caller, other] = [await world.run("a"), await world.run("c")];
  const { callId } = await call(world, caller, "b");
  for (const ability of ["call-check", "call-wait"] as const) {
    const problem = await problemOf(world.ask(other, ability, { callIds: [callId] }));
    expect(problem.error).toBe("unknown_call");
  }
});

test("a call to itself is rejected, and so is one too deep or one too many", async () => {
  const world = await started({ maxCallDepth: 1 });
  const caller = await world.run("a");
  expect((await problemOf(call(world, caller, "a"))).error).toBe("self_call");
  await call(world, caller, "b");
  expect((await problemOf(call(world, latest(world, "b"), "c"))).error).toBe("too_deep");
  for (let n = 1; n < 100; n++) await call(world, caller, "c");
  expect((await problemOf(call(world, caller, "c"))).error).toBe("too_many_calls");
});

test("a call that ends with its caller is withdrawn from its queue, or killed", async () => {
  const world = await started();
  const caller = await world.run("a");
  const kept = await call(world, caller, "c");
  await call(world, caller, "b", { cancelOnExit: true });
  await call(world, caller, "b", { cancelOnExit: true });
  const [running, kind] = [latest(world, "b"), "agent-call"];
  world.end(caller);
  await expect.poll(() => world.isLive(running)).toBe(false);
  const called = () => world.history().filter((entry) => entry.kind === kind);
  await expect
    .poll(() => called().map(({ outcome }) => outcome))
    .toEqual(["rejected", "killed", null]);
  expect(called().at(-1)?.callId).toBe(kept.callId);
  expect(instancesOf(world, "b")).toHaveLength(1);
});

test("a call that ends with its caller does so even if the caller ended while it was made", async () => {
  const world = await started();
  const caller = await world.run("a");
  const making = call(world, caller, "b", { cancelOnExit: true });
  // By then the call is allowed, and not yet committed.
  await new Promise((resolve) => setImmediate(resolve));
  world.end(caller);
  await making;
  const made = () => world.history().find(({ kind }) => kind === "agent-call");
  await expect.poll(() => made()?.outcome).toMatch(/^(killed|rejected)$/);
});

test("a call frees the slot of a waiting caller, which has it back before it resumes", async () => {
  const world = await started({ scale: 1 });
  const caller = await world.run("a");
  const { callId, state } = await call(world, caller, "b");
  expect(state).toBe("queued");
  const waiting = world.ask(caller, "call-wait", { callIds: [callId] });
  await expect.poll(() => instancesOf(world, "b")).toHaveLength(1);
  const later = world.run("c").catch((error: unknown) => String(error));
  expect(await later).toContain("queued");
  world.end(latest(world, "b"));
  await waiting;
  expect(instancesOf(world, "c")).toEqual([]);
  world.end(caller);
  await expect.poll(() => instancesOf(world, "c")).toHaveLength(1);
});

describe("after a restart", () => {
  test("a caller that continues finds its calls, and still waits for them", async () => {
    const world = await started();
    const caller = await world.run("a");
    const { callId } = await call(world, caller, "b");
    const key = randomUUID();
    void world.ask(caller, "call-wait", { callIds: [callId] }, { key }).catch(() => undefined);
    world.crash();

    const next = createWorld({ agents }, world.dir, [caller]);
    await next.start();
    const waiting = next.ask(caller, "call-wait", { callIds: [callId] }, { key });
    // The callee was lost, and is tried again.
    await expect.poll(() => instancesOf(next, "b")).toHaveLength(1);
    next.end(latest(next, "b"), { value: 7 });
    expect(await waiting).toMatchObject({ calls: [{ outcome: "succeeded", value: 7 }] });
  });

  test("a call whose answer was lost in the crash is not made twice when it is repeated", async () => {
    const world = await started();
    const caller = await world.run("a");
    const key = randomUUID();
    const asked = { agent: "b", context: "once" };
    void world.ask(caller, "call", asked, { key }).catch(() => undefined);
    const made = ({ history }: World) => history().filter(({ kind }) => kind === "agent-call");
    await expect.poll(() => made(world), { interval: 1 }).toHaveLength(1);
    world.crash();

    const next = createWorld({ agents }, world.dir, [caller]);
    await next.start();
    expect(await next.ask(caller, "call", asked, { key })).toMatchObject({ callId: key });
    await expect.poll(() => instancesOf(next, "b")).toHaveLength(1);
    next.end(latest(next, "b"));
    expect(await next.ask(caller, "call-wait", { callIds: [key] })).toMatchObject({
      calls: [{ callId: key, outcome: "succeeded" }],
    });
    expect(await next.ask(caller, "call", asked, { key })).toMatchObject({ state: "ended" });
    expect(instancesOf(next, "b")).toHaveLength(1);
    expect(made(next).filter(({ outcome }) => outcome !== "lost")).toHaveLength(1);
  });

  test("a call bound to a caller that died is not run", async () => {
    const world = await started();
    const caller = await world.run("a");
    await call(world, caller, "b");
    await call(world, caller, "b", { cancelOnExit: true });
    const running = latest(world, "b");
    world.crash();

    const next = createWorld({ agents }, world.dir, [running]);
    await next.start();
    await expect.poll(() => next.history().map(({ outcome }) => outcome)).toContain("rejected");
    next.end(running);
    expect(instancesOf(next, "b")).toEqual([running]);
  });
});

const tick: Trigger = { kind: "cron", scheduledFor: 1_000 };
const again = { rerun: true };

test("a scheduled run that asks for a rerun is run again as a cron entry of its own, until it doesn't ask", async () => {
  const world = await started();
  world.end(await world.run("a", tick), again);
  await expect.poll(() => instancesOf(world, "a")).toHaveLength(2);
  world.end(latest(world, "a"));
  const ends = () => world.history().map(({ kind, outcome }) => `${kind} ${outcome ?? ""}`);
  await expect.poll(ends).toEqual(["cron succeeded", "cron succeeded"]);
});

test("a scheduled run that asks for a rerun is not run again when it failed, or when a person started it", async () => {
  const world = await started();
  world.end(await world.run("a", tick), { ...again, exitCode: 1 });
  world.end(await world.run("b"), again);
  await expect.poll(() => world.history().every(({ outcome }) => outcome)).toBe(true);
  expect(world.history()).toHaveLength(2);
});

test("a scheduled run that asks for a rerun is run again at most maxReruns times in a row", async () => {
  const world = await started({ maxReruns: 2 });
  world.end(await world.run("a", tick), again);
  for (const n of [2, 3]) {
    await expect.poll(() => instancesOf(world, "a")).toHaveLength(n);
    world.end(latest(world, "a"), again);
  }
  await expect
    .poll(() => world.history()[0])
    .toMatchObject({
      outcome: "skipped",
      reason: "it ran again 2 times in a row",
      deadLetter: false,
    });
});
