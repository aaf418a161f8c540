import { randomUUID } from "node:crypto";
import { anAgent } from "../../helpers/agents.ts";
import { createWorld, problemOf } from "./world.ts";
import { instancesOf } from "./of-world.ts";

const agents = [anAgent("a", { scale: 3 }), anAgent("b"), anAgent("c")];
const resource = "file:x";

const nextTurns = () => new Promise((resolve) => setTimeout(resolve, 20, "nothing yet"));

async function withRuns(...names: string[]) {
  const world = createWorld({ agents });
  await world.start();
  const runs = [];
  for (const name of names) runs.push(await world.run(name));
  const [first = "", second = "", third = ""] = runs;
  return { world, first, second, third };
}

test("a run's lock is emitted and stored when it is answered, and shown while it is held", async () => {
  const { world, first, second } = await withRuns("a", "b");
  const given = await world.ask(first, "lock", { resource, ttlSeconds: 60 });
  expect(given).toMatchObject({ ok: true, resource, fencingToken: 1 });
  expect(world.store.locks.all()).toMatchObject([{ resource, instanceId: first }]);
  const shown = { resource, agent: "a", instanceId: first, expiresAt: given.expiresAt };
  expect(world.locks()).toMatchObject([shown]);
  const problem = await problemOf(world.ask(second, "lock", { resource }));
  expect(problem).toMatchObject({ error: "held", holder: shown });
  await world.ask(first, "unlock", { resource });
  expect([world.store.locks.all(), world.locks()]).toEqual([[], []]);
});

test("a run's lock goes to the next waiting run when its holder dies", async () => {
  const { world, first, second } = await withRuns("a", "b");
  await world.ask(first, "lock", { resource });
  const waiting = world.ask(second, "lock", { resource, waitSeconds: 60 });
  world.end(first, { exitCode: 1, error: "it broke" });
  expect(await waiting).toMatchObject({ fencingToken: 2 });
  expect(world.store.locks.all()).toMatchObject([{ instanceId: second }]);
});

test("a run's lock is rejected when runs would wait for each other", async () => {
  const { world, first, second } = await withRuns("a", "b");
  await world.ask(first, "lock", { resource });
  await world.ask(second, "lock", { resource: "file:y" });
  void world.ask(first, "lock", { resource: "file:y", waitSeconds: 60 }).catch(() => undefined);
  const problem = await problemOf(world.ask(second, "lock", { resource, waitSeconds: 60 }));
  expect(problem).toMatchObject({ error: "deadlock", path: [second, first, second] });
  expect(problem.detail).toContain(`${second} → ${first} → ${second}`);
});

test("a run's lock is still held when the request is repeated after a lost connection", async () => {
  const { world, first, second } = await withRuns("a", "b");
  await world.ask(first, "lock", { resource });
  const [key, wait] = [randomUUID(), { resource, waitSeconds: 60 }];
  const broken = new AbortController();
  const lost = world.ask(second, "lock", wait, { key, signal: broken.signal });
  broken.abort();
  await expect(lost).rejects.toThrow("no longer waits");
  const again = world.ask(second, "lock", wait, { key });
  await world.ask(first, "unlock", { resource });
  expect(await again).toMatchObject({ ok: true, fencingToken: 2 });
});

test("a run's lock is waited for without a slot, which the run that holds it may need", async () => {
  const world = createWorld({ agents, scale: 1 });
  await world.start();
  const holder = await world.run("a");
  await world.ask(holder, "lock", { resource });
  // In the queue before the call.
  await expect(world.run("c")).rejects.toThrow("queued");
  const { callId } = await world.ask(holder, "call", { agent: "b", context: "" });
  const called = world.ask(holder, "call-wait", { callIds: [callId] });
  await expect.poll(() => instancesOf(world, "c")).toHaveLength(1);
  const [other = ""] = instancesOf(world, "c");
  const waiting = world.ask(other, "lock", { resource, waitSeconds: 60 });
  await expect.poll(() => instancesOf(world, "b")).toHaveLength(1);
  world.end(instancesOf(world, "b")[0] ?? "");
  expect(await called).toMatchObject({ timedOut: false });
  await world.ask(holder, "unlock", { resource });
  await expect.poll(() => world.store.locks.all()).toMatchObject([{ instanceId: other }]);
  // It has the lock, and resumes when it has its slot again.
  expect(await Promise.race([waiting, nextTurns()])).toBe("nothing yet");
  world.end(holder);
  expect(await waiting).toMatchObject({ ok: true });
  const said = world.events.flatMap((one) => (one.type === "status-text" ? [one.text] : []));
  expect(said).toContain(`waits for the lock ${resource}`);
});

test("a run's lock is requested once, however often the request is repeated", async () => {
  const { world, first, second } = await withRuns("a", "b");
  await world.ask(first, "lock", { resource });
  const key = "0b0f7c3e-7a5b-4d59-9b0e-0a3a4f6d1c11";
  const wait = { resource, waitSeconds: 60 };
  const both = [1, 2].map(() => world.ask(second, "lock", wait, { key }));
  await world.ask(first, "unlock", { resource }, { key });
  const [one, two] = await Promise.all(both);
  expect(one).toEqual(two);
  expect(await world.ask(first, "unlock", { resource }, { key })).toEqual({ ok: true });
  expect(world.locks()).toMatchObject([{ instanceId: second }]);
});

test("a run's lock leaves nothing behind, however often it is taken and freed", async () => {
  const { world, first } = await withRuns("a");
  const keys = Array.from({ length: 300 }, () => randomUUID());
  for (const key of keys) {
    await world.ask(first, "lock", { resource });
    await world.ask(first, "unlock", { resource }, { key });
  }
  const again = (n: number) =>
    world.ask(first, "unlock", { resource }, { key: keys.at(n) ?? randomUUID() });
  expect(await again(-1)).toEqual({ ok: true });
  expect(await again(-256)).toEqual({ ok: true });
  expect(await problemOf(again(-257))).toMatchObject({ error: "not_holder" });
});

test("the status shows which locks runs hold and wait for, until they have ended", async () => {
  const { world, first, second, third } = await withRuns("a", "b", "c");
  const shown = (): string[] =>
    world.claims().map(({ held, instanceId }) => `${instanceId} ${held ? "has" : "waits"}`);
  await world.ask(first, "lock", { resource, ttlSeconds: 60 });
  const short = world.claims()[0]?.expiresAt ?? "";
  await world.ask(first, "lock-heartbeat", { resource, ttlSeconds: 90 });
  expect(world.claims()[0]?.expiresAt?.localeCompare(short)).toBe(1);
  const wait = { resource, waitSeconds: 60 };
  const left = new AbortController();
  void world.ask(second, "lock", wait, { signal: left.signal }).catch(() => undefined);
  const twice = world.ask(second, "lock", wait);
  const last = world.ask(third, "lock", wait);
  last.catch(() => undefined);
  expect(shown()).toEqual([`${first} has`, `${second} waits`, `${third} waits`]);
  left.abort();
  expect(shown()).toHaveLength(3);
  world.end(third);
  await world.ask(first, "unlock", { resource });
  await twice;
  expect(shown()).toEqual([`${second} has`]);
  world.end(second);
  expect(shown()).toEqual([]);
});

describe("after a restart", () => {
  test("a live run keeps its lock, that of a dead run is free, and tokens keep counting", async () => {
    const { world, first, second } = await withRuns("a", "b");
    await world.ask(first, "lock", { resource });
    await world.ask(second, "lock", { resource: "file:y" });
    const key = "1b0f7c3e-7a5b-4d59-9b0e-0a3a4f6d1c12";
    await world.ask(first, "lock", { resource: "file:z" });
    await world.ask(first, "unlock", { resource: "file:z" }, { key });
    world.crash();

    const next = createWorld({ agents }, world.dir, [first]);
    await next.start();
    const other = await next.run("c");
    const problem = await problemOf(next.ask(other, "lock", { resource }));
    expect(problem).toMatchObject({ error: "held", holder: { instanceId: first } });
    const free = await next.ask(other, "lock", { resource: "file:y" });
    expect(free.fencingToken).toBe(4);
    expect((await next.ask(first, "lock", { resource })).fencingToken).toBe(1);
    // It was done before, and its answer was lost.
    expect(await next.ask(first, "unlock", { resource: "file:z" }, { key })).toEqual({ ok: true });
    next.end(first);
    expect(await next.ask(other, "lock", { resource })).toMatchObject({ fencingToken: 5 });
  });
});
