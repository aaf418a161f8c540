import { randomBytes } from "node:crypto";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { atTerminal } from "../../../src/foundation/contracts/questions.ts";
import { createSeen } from "../../../src/features/memory/seen-store.ts";
import { manualItem } from "../../foundation/store/support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { deliveryBy, memoryWorld } from "./support.ts";

const dayMs = 86_400_000;

describe("restoring a version", () => {
  test("makes a new version of its files, byte for byte, and nothing if they are the latest", async () => {
    const world = memoryWorld();
    const contents = Array.from({ length: 3 }, () => randomBytes(4096).toString("latin1"));
    for (const [n, content] of contents.entries()) {
      const run = await world.start(`dev-${n}`);
      await run.write({ a: content, b: String(n) });
      await run.end();
    }
    const restored = await world.memory.restore("dev", 1, atTerminal);
    expect(restored).toMatchObject({ n: 4, instanceId: null, by: atTerminal });
    expect(await world.now()).toEqual({ a: contents[0], b: "0" });
    expect((await world.memory.restore("dev", 1, atTerminal)).n).toBe(4);
    expect((await world.memory.restore("dev", 0, atTerminal)).files).toEqual([]);
    await expect(world.memory.restore("dev", 9, atTerminal)).rejects.toMatchObject({
      code: "unknown_version",
    });
    await expect(world.memory.restore("gone", 0, atTerminal)).rejects.toThrow(
      /the memory "gone" has no version/,
    );
  });
});

describe("after a crash", () => {
  test.each([
    ["is kept if the run is adopted", true],
    ["is not kept if the run is lost", false],
  ])("an upload %s", async (_, isAlive) => {
    const dir = tempDir();
    const before = memoryWorld(dir);
    const run = await before.start("dev-1");
    await run.write({ a: "one" });
    before.store.close();
    const after = memoryWorld(dir);
    await after.store.recover(new Set(isAlive ? ["dev-1"] : []));
    const event = { ...run.request, type: "finished" as const, agent: "dev", at: 1, startedAt: 0 };
    const end = { outcome: "succeeded" as const, exitCode: 0, reason: null, usage: null };
    const write = after.memories.onEvent({ ...event, end });
    if (isAlive) await after.store.work.end(run.request.item, { ...event, end }, write);
    else await after.store.work.record(write ?? (() => undefined));
    expect(await after.now()).toEqual(isAlive ? { a: "one" } : {});
  });
});

describe("retention", () => {
  test("deletes old versions; the latest one and the bases of live runs and open proposals stay", async () => {
    let now = 100 * dayMs;
    const world = memoryWorld(tempDir(), { now: () => now });
    const write = async (id: string, text: string, item?: WorkItem) => {
      const run = await world.start(id, { item: item ?? manualItem(id) });
      await run.write({ a: text });
      await run.end();
    };
    await write("dev-1", "1");
    await write("dev-2", "2");
    const live = await world.start("dev-3");
    await write("dev-4", "4");
    await write("dev-5", "5", deliveryBy("mallory"));
    await write("dev-6", "6");
    await write("dev-7", "7");
    now = 130 * dayMs;
    const [proposal] = world.memory.proposals();
    expect(proposal?.base).toBe(3);
    const numbers = () => world.memory.versions("dev").map(({ n }) => n);
    await world.store.prune({ now: 110 * dayMs, days: 14, maxBytes: 1e12 });
    expect(numbers()).toEqual([5, 4, 3, 2, 1]);
    // Proposals stay as long as the history does.
    await world.store.prune({ now, days: 14, maxBytes: 1e12 });
    await world.store.prune({ now, days: 14, maxBytes: 1e12 });
    expect([numbers(), world.memory.proposals()]).toEqual([[5, 2], []]);
    expect(await live.read()).toEqual({ a: "2" });
    await live.end();
  });

  test("keeps the latest 500 versions", async () => {
    const world = memoryWorld();
    const store = world.memory;
    const run = await world.start("dev-1");
    await run.write({ a: "1" });
    await run.end();
    const numbers = Array.from({ length: 501 }, (_, n) => (n % 2 === 0 ? 0 : n));
    await Promise.all(numbers.map((n) => store.restore("dev", n, atTerminal)));
    expect(store.versions("dev", { limit: 1_000 }).map(({ n }) => n)).toHaveLength(500);
  });
});

describe("the ids that an agent has seen", () => {
  test("are there after a restart, for this agent, and only the latest 10,000", async () => {
    const dir = tempDir();
    const world = memoryWorld(dir);
    const seen = world.store.tables(createSeen);
    expect(await seen.add("dev", "first")).toBe(false);
    expect(await seen.add("dev", "second")).toBe(false);
    expect(await seen.add("dev", "first")).toBe(true);
    await Promise.all(Array.from({ length: 9_999 }, (_, n) => seen.add("dev", `more ${n}`)));
    world.store.close();
    const again = memoryWorld(dir).store.tables(createSeen);
    const has = (id: string, name = "dev") => again.has(name, id);
    expect([has("first"), has("second"), has("more 0"), has("first", "ops")]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});
