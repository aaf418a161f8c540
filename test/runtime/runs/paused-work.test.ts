import { v7 as uuidV7 } from "uuid";
import { createSwitches } from "../../../src/foundation/scheduler/switches.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { ended, instancesOf, restarted, startedWorld } from "./of-world.ts";
import type { World } from "./world.ts";

const agents = [anAgent("a"), anAgent("b"), anAgent("c", { scale: 2_000, queueSize: 2_000 })];

function switching({ store, inputs }: World) {
  const { setPaused } = createSwitches(store, inputs, () => undefined);
  return { pause: () => setPaused(true, true), resume: () => setPaused(false) };
}

/** A run that makes a call while new work is paused. */
async function called() {
  const { world, run } = await startedWorld({ agents });
  const { pause, resume } = switching(world);
  await pause();
  const call = await world.ask(run, "call", { agent: "b", context: "do it", cancelOnExit: true });
  expect(call.state).toBe("queued");
  return { world, run, resume, callIds: [call.callId] };
}

test("a call whose caller ends while new work is paused is rejected on resume", async () => {
  const { world, run, resume } = await called();
  await ended(world, run);
  await resume();
  const outcomes = () => world.history().map(({ kind, outcome }) => `${kind} ${outcome}`);
  await expect.poll(outcomes).toEqual(["agent-call rejected", "manual succeeded"]);
  expect(instancesOf(world, "b")).toEqual([]);
});

test("a rerun and a retry wait while new work is paused, also after a restart", async () => {
  const { world, run: lost } = await startedWorld({ agents });
  const tick = await world.run("b", { kind: "cron", scheduledFor: 1 });
  await switching(world).pause();
  world.end(tick, { rerun: true });
  world.end(lost, { exitCode: null, lost: true, error: "the engine went away" });
  const waiting = (of: World) => Object.fromEntries(of.store.waitingWork.counts());
  await expect.poll(() => waiting(world)).toEqual({ a: 1, b: 1 });
  const next = await restarted(world, []);
  expect(waiting(next)).toEqual({ a: 1, b: 1 });
  await switching(next).resume();
  await expect.poll(() => next.events.filter(({ type }) => type === "started")).toHaveLength(2);
});

test("work that arrives between pauses and resumes starts once, in the order in which it was stored", async () => {
  const { world } = await startedWorld({ agents });
  const { pause, resume } = switching(world);
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
  await both(3, pause());
  await commit(450);
  await both(3, resume());
  await both(3, pause());
  for (let round = 0; round < 20; round += 1) await both(2, resume());
  const ids = (type: string) =>
    world.events.flatMap((event) =>
      event.type === type && "item" in event && event.agent === "c" ? [event.item.id] : [],
    );
  await expect.poll(() => ids("started").length).toBe(committed.length);
  expect(ids("started")).toEqual(committed);
  expect([ids("refused"), world.problems]).toEqual([[], []]);
  await expect.poll(() => world.store.settings.isWorkHeld()).toBe(false);
}, 120_000);
