import { randomUUID } from "node:crypto";
import { anAgent } from "../../helpers/agents.ts";
import type { World, WorldOptions } from "./world.ts";
import {
  expectRefusal,
  expectWaiting,
  hangingUp,
  restarted,
  startedWorld,
  statusTexts,
} from "./of-world.ts";

const resource = "file:x";
const wait = { resource, waitSeconds: 60 };

/** A run of a beside the agents b and c. */
function started(options: Partial<WorldOptions> = {}) {
  const agents = ["a", "b", "c"].map((name) => anAgent(name));
  return startedWorld({ agents, ...options });
}

async function both() {
  const { world, run: first } = await started();
  return { world, first, second: await world.run("b") };
}

const lock = (world: World, run: string, more: object = {}, key = randomUUID()) =>
  world.ask(run, "lock", { resource, ...more }, { key });
const unlock = (world: World, run: string, key = randomUUID(), of = resource) =>
  world.ask(run, "unlock", { resource: of }, { key });

test("a run's lock is stored and listed until the run releases it", async () => {
  const { world, first, second } = await both();
  const given = await lock(world, first, { ttlSeconds: 60 });
  expect(given).toMatchObject({ ok: true, resource, fencingToken: 1 });
  expect(world.store.locks.all()).toMatchObject([{ resource, instanceId: first }]);
  const holder = { resource, agent: "a", instanceId: first, expiresAt: given.expiresAt };
  expect(world.locks()).toMatchObject([holder]);
  await expectRefusal(lock(world, second), "held", { holder });
  await unlock(world, first);
  expect([world.store.locks.all(), world.locks()]).toEqual([[], []]);
});

test("a run's request for a lock is rejected if runs would wait for each other", async () => {
  const { world, first, second } = await both();
  const other = { resource: "file:y" };
  await lock(world, first);
  await lock(world, second, other);
  void lock(world, first, { ...wait, ...other });
  await expectRefusal(lock(world, second, wait), "deadlock", {
    path: [second, first, second],
    detail: expect.stringContaining(`${second} → ${first} → ${second}`) as string,
  });
});

test("a run that waits for a lock releases its slot, and gets one back before it resumes", async () => {
  const { world, run } = await started({ scale: 1 });
  await lock(world, run);
  const suspended = world.ask(run, "wait", { kind: "webhook", timeoutSeconds: 0.5 });
  await expect.poll(() => world.frozen).toHaveLength(1);
  const other = await world.run("c");
  const waiting = lock(world, other, wait);
  expect(await suspended).toMatchObject({ timedOut: true });
  await unlock(world, run);
  await expect.poll(() => world.store.locks.all()).toMatchObject([{ instanceId: other }]);
  // It has the lock, and resumes when it has its slot again.
  await expectWaiting(waiting);
  world.end(run);
  expect(await waiting).toMatchObject({ ok: true });
  expect(statusTexts(world)).toContain(`waits for the lock ${resource}`);
});

test("a repeated request for a lock acquires it once", async () => {
  const { world, first, second } = await both();
  await lock(world, first);
  const key = randomUUID();
  const twice = [1, 2].map(() => lock(world, second, wait, key));
  await unlock(world, first, key);
  const [one, two] = await Promise.all(twice);
  expect(one).toEqual(two);
  expect(await unlock(world, first, key)).toEqual({ ok: true });
  expect(world.locks()).toMatchObject([{ instanceId: second }]);
});

test("repeating one of a run's last 256 requests returns the same response, repeating an earlier one does not", async () => {
  const { world, run } = await started();
  const keys = Array.from({ length: 300 }, () => randomUUID());
  for (const key of keys) {
    await lock(world, run);
    await unlock(world, run, key);
  }
  for (const n of [-1, -256]) expect(await unlock(world, run, keys.at(n))).toEqual({ ok: true });
  await expectRefusal(unlock(world, run, keys.at(-257)), "not_holder");
});

test("the status shows which locks live runs hold and wait for", async () => {
  const { world, first, second } = await both();
  const third = await world.run("c");
  const shown = (): string[] =>
    world.claims().map(({ held, instanceId }) => `${instanceId} ${held ? "has" : "waits"}`);
  await lock(world, first, { ttlSeconds: 60 });
  const short = world.claims()[0]?.expiresAt ?? "";
  await world.ask(first, "lock-heartbeat", { resource, ttlSeconds: 90 });
  expect(world.claims()[0]?.expiresAt?.localeCompare(short)).toBe(1);
  const { signal, hangUp } = hangingUp();
  void world.ask(second, "lock", wait, { signal });
  const twice = lock(world, second, wait);
  void lock(world, third, wait);
  const all = [`${first} has`, `${second} waits`, `${third} waits`];
  expect(shown()).toEqual(all);
  hangUp();
  expect(shown()).toEqual(all);
  world.end(third);
  await unlock(world, first);
  await twice;
  expect(shown()).toEqual([`${second} has`]);
  world.end(second);
  expect(shown()).toEqual([]);
});

test("after a restart a live run keeps its lock, a dead run's lock is free, and fencing tokens keep counting", async () => {
  const { world, first, second } = await both();
  const [dead, freed, key] = ["file:y", "file:z", randomUUID()];
  await lock(world, first);
  await lock(world, second, { resource: dead });
  await lock(world, first, { resource: freed });
  await unlock(world, first, key, freed);
  const next = await restarted(world, [first]);
  const other = await next.run("c");
  await expectRefusal(lock(next, other), "held", { holder: { instanceId: first } });
  expect(await lock(next, other, { resource: dead })).toMatchObject({ fencingToken: 4 });
  expect(await lock(next, first)).toMatchObject({ fencingToken: 1 });
  // It was done before, and its answer was lost.
  expect(await unlock(next, first, key, freed)).toEqual({ ok: true });
  next.end(first);
  expect(await lock(next, other)).toMatchObject({ fencingToken: 5 });
});
