import { v7 as uuidV7 } from "uuid";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { createSwitches } from "../../../src/foundation/scheduler/switches.ts";
import { instancesOf } from "./of-world.ts";
import { createWorld, type World } from "./world.ts";

const agents = [anAgent("a"), anAgent("b"), anAgent("c", { scale: 2_000, queueSize: 2_000 })];

async function started(dir?: string) {
  const world = createWorld({ agents }, dir);
  const { setPaused } = createSwitches(world.store, world.inputs, () => undefined);
  await world.start();
  return { ...world, pause: () => setPaused(true, true), resume: () => setPaused(false) };
}

test("a call that is made while new work is paused waits as a queued one, and its caller with it", async () => {
  const world = await started();
  const caller = await world.run("a");
  await world.pause();
  const { callId, state } = await world.ask(caller, "call", { agent: "b", context: "do it" });
  expect(state).toBe("queued");
  const waiting = world.ask(caller, "call-wait", { callIds: [callId] });
  await world.resume();
  await expect.poll(() => instancesOf(world, "b")).toHaveLength(1);
  world.end(instancesOf(world, "b")[0] ?? "", { value: 3 });
  expect(await waiting).toMatchObject({ timedOut: false, calls: [{ state: "ended", value: 3 }] });
});

test("a call whose caller ends while new work is paused is rejected on resume", async () => {
  const world = await started();
  const caller = await world.run("a");
  await world.pause();
  const call = { agent: "b", context: "do it", cancelOnExit: true };
  await world.ask(caller, "call", call);
  world.end(caller);
  await expect.poll(() => world.isLive(caller)).toBe(false);
  await world.resume();
  const outcomes = () => world.history().map(({ kind, outcome }) => `${kind} ${outcome}`);
  await expect.poll(outcomes).toEqual(["agent-call rejected", "manual succeeded"]);
  expect(instancesOf(world, "b")).toEqual([]);
});

test("a rerun and a retry wait while new work is paused, also over a restart", async () => {
  const world = await started();
  const [tick, call] = [
    await world.run("a", { kind: "cron", scheduledFor: 1 }),
    await world.run("b"),
  ];
  await world.pause();
  world.end(tick, { rerun: true });
  world.end(call, { exitCode: null, lost: true, error: "the engine went away" });
  const waiting = (of: World) => [...of.store.waitingWork.counts()];
  const both = [
    ["a", 1],
    ["b", 1],
  ];
  await expect.poll(() => waiting(world)).toEqual(both);
  world.crash();

  const next = await started(world.dir);
  expect(waiting(next)).toEqual(both);
  await next.resume();
  await expect.poll(() => next.events.filter(({ type }) => type === "started")).toHaveLength(2);
});

test("work that is dispatched around pauses and resumes starts once, in the order of its commits", async () => {
  const world = await started();
  const committed: string[] = [];
  const commit = async (count: number): Promise<void> => {
    const items = Array.from({ length: count }, () => anItem(uuidV7(), "c"));
    committed.push(...items.map(({ id }) => id));
    await world.store.work.enqueue(items);
    // As late as a caller may: within the turn of the commit.
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    world.dispatch(items);
  };
  const both = (count: number, switched: Promise<void>) => Promise.all([commit(count), switched]);
  await both(3, world.pause());
  await commit(450);
  await both(3, world.resume());
  await both(3, world.pause());
  for (let round = 0; round < 20; round += 1) await both(2, world.resume());
  const startedIds = () =>
    world.events.flatMap((event) => (event.type === "started" ? [event.item.id] : []));
  await expect.poll(() => startedIds().length, { timeout: 60_000 }).toBe(committed.length);
  expect(startedIds()).toEqual(committed);
  expect(world.events.filter(({ type }) => type === "refused")).toEqual([]);
  expect(world.problems).toEqual([]);
  await expect.poll(() => world.store.settings.isWorkHeld()).toBe(false);
}, 120_000);
