import { manualItem } from "../../foundation/store/support.ts";
import { memoryWorld } from "./support.ts";

const limits = { maxBytes: 100, maxFileBytes: 60 };

describe("the files of a run", () => {
  test("become the next version if it succeeds, which the next run receives", async () => {
    const world = memoryWorld();
    const first = await world.start("dev-1");
    expect(await first.read()).toEqual({});
    expect(await first.write({ "a.md": "one", "b/c.md": "two" })).toEqual({
      kept: 2,
      problems: [],
    });
    expect(await world.now()).toEqual({});
    await first.end();
    expect(await world.now()).toEqual({ "a.md": "one", "b/c.md": "two" });
    const second = await world.start("dev-2");
    expect(await second.read()).toEqual({ "a.md": "one", "b/c.md": "two" });
    expect(await second.write({ "a.md": "three" })).toEqual({ kept: 1, problems: [] });
    await second.end();
    expect(await world.now()).toEqual({ "a.md": "three" });
    expect(world.memory.versions("dev")).toMatchObject([
      { n: 2, instanceId: "dev-2", by: null, conflicts: [] },
      { n: 1, instanceId: "dev-1" },
    ]);
    expect(world.memory.all()).toEqual([
      { name: "dev", n: 2, at: world.memory.head("dev")?.at, files: 1, bytes: 5, proposals: 0 },
    ]);
    expect(await world.textsOf(world.memory.files("dev", 1))).toEqual({
      "a.md": "one",
      "b/c.md": "two",
    });
  });

  test.each(["failed", "timed_out", "killed", "interrupted", "stopped", "lost"] as const)(
    "are not kept if it ends as %s",
    async (outcome) => {
      const world = memoryWorld();
      const run = await world.start("dev-1");
      await run.write({ a: "one" });
      await run.end(outcome);
      expect(world.memory.versions("dev")).toEqual([]);
      expect(world.memory.ofRun("dev-1")).toEqual({ versions: [], proposals: [], notKept: [] });
    },
  );

  test("make a version only if they differ from the latest one", async () => {
    const world = memoryWorld();
    for (const id of ["dev-1", "dev-2"]) {
      const run = await world.start(id);
      await run.write({ a: "one" });
      await run.end();
    }
    expect(world.memory.versions("dev")).toHaveLength(1);
  });

  test("are those of its last upload, and none after its end", async () => {
    const world = memoryWorld();
    const run = await world.start("dev-1");
    await run.write({ a: "one" });
    await run.write({ b: "two" });
    await run.end();
    const late = await run.write({ c: "three" });
    expect(late?.problems).toEqual(["memory/ is not kept: The run has ended."]);
    expect(await world.now()).toEqual({ b: "two" });
  });

  test("are redacted as they are stored", async () => {
    const world = memoryWorld();
    const run = await world.start("dev-1");
    await run.write({ a: "password swordfish-swordfish" });
    await run.end();
    expect(await world.now()).toEqual({ a: "password [redacted]" });
    const next = await world.start("dev-2");
    expect(await next.read()).toEqual({ a: "password [redacted]" });
  });
});

describe("runs at the same time", () => {
  test("are merged file by file; the second one's conflict file is named until a run deletes it", async () => {
    const world = memoryWorld();
    const first = await world.start("dev-0");
    await first.write({ a: "0", b: "0", c: "0" });
    await first.end();
    const [one, two] = [await world.start("dev-1"), await world.start("dev-2")];
    await one.write({ a: "1", b: "1", d: "1" });
    await two.write({ a: "0", b: "2", c: "0", e: "2" });
    await two.end();
    await one.end();
    const merged = { a: "1", b: "2", "b.conflict-dev-1": "1", d: "1", e: "2" };
    expect(await world.now()).toEqual(merged);
    const next = await world.start("dev-3");
    expect(next.job).toMatchObject([{ conflicts: ["b.conflict-dev-1"] }]);
    await next.write({ a: "1", b: "2+1", d: "1", e: "2" });
    await next.end();
    expect(world.memory.head("dev")).toMatchObject({ n: 4, conflicts: [] });
  });

  test("may leave more than the limits, which stays whole, and the next run is told", async () => {
    const world = memoryWorld();
    const [one, two] = [
      await world.start("dev-1", { config: limits }),
      await world.start("dev-2", { config: limits }),
    ];
    await one.write({ a: "x".repeat(60) });
    await two.write({ b: "y".repeat(60) });
    await one.end();
    await two.end();
    expect(Object.keys(await world.now())).toEqual(["a", "b"]);
    const next = await world.start("dev-3", { config: limits });
    expect(next.job).toMatchObject([{ bytes: 120, maxBytes: 100 }]);
    expect(await next.trees()).toMatchObject([{ limits: { bytes: 120, fileBytes: 60 } }]);
    // A run that sends it back unchanged causes no warning.
    await next.write(await next.read());
    await next.end();
    expect(world.memory.head("dev")?.n).toBe(2);
    expect(world.memory.lastNotKept("dev")).toBeNull();
  });
});

describe("files over a limit", () => {
  test.each([
    [
      "all together",
      { a: "x".repeat(60), b: "y".repeat(60) },
      [],
      "memory/ has 120 bytes, of at most 100 bytes.",
    ],
    [
      "one of them",
      { a: "x".repeat(61) },
      [],
      "memory/a has 61 bytes, of at most 60 bytes a file.",
    ],
    [
      "with a credential in its name",
      { "swordfish-swordfish": "x" },
      [],
      "The name of a file in memory/ contains a credential.",
    ],
    ["left out by the run", { a: "x" }, [{ path: "l", why: "is a link" }], "memory/l: is a link."],
  ])(
    "are not kept: %s; the next run is told, until a run is within them",
    async (_, texts, leftOut, why) => {
      const world = memoryWorld();
      const earlier = await world.start("dev-1", { config: limits });
      await earlier.write({ a: "old" });
      await earlier.end();
      const run = await world.start("dev-2", { config: limits });
      const answer = await run.write(texts, { leftOut });
      expect(answer).toEqual({ kept: 0, problems: [`memory/ is not kept: ${why}`] });
      await run.end();
      expect(await world.now()).toEqual({ a: "old" });
      const notKept = { name: "dev", instanceId: "dev-2", reason: why };
      expect(world.memory.ofRun("dev-2").notKept).toMatchObject([notKept]);
      const next = await world.start("dev-3", { config: limits });
      expect(next.job).toMatchObject([{ notKept }]);
      await next.write({ a: "new" });
      await next.end();
      expect((await world.start("dev-4", { config: limits })).job).toMatchObject([
        { notKept: null },
      ]);
    },
  );

  test("are not kept if they do not all arrive, until they are sent again", async () => {
    const world = memoryWorld();
    const [one, two] = [await world.start("dev-1"), await world.start("dev-2")];
    await expect(one.write({ a: "1" }, { isCut: true })).rejects.toThrow("the tree is cut");
    await expect(two.write({ b: "2" }, { isCut: true })).rejects.toThrow("the tree is cut");
    await two.write({ b: "2" });
    await Promise.all([one.end(), two.end()]);
    expect(await world.now()).toEqual({ b: "2" });
    expect(world.memory.ofRun("dev-1").notKept).toMatchObject([{ reason: "The tree is cut." }]);
  });

  test("are recorded only for a run that succeeds", async () => {
    const world = memoryWorld();
    const run = await world.start("dev-1", { config: limits });
    await run.write({ a: "x".repeat(61) });
    await run.end("failed");
    expect(world.memory.lastNotKept("dev")).toBeNull();
  });

  test("are not kept if the run does not send the files that it received", async () => {
    const world = memoryWorld();
    const run = await world.start("dev-1");
    await run.write({ a: "one" });
    await run.end();
    const silent = await world.start("dev-2");
    await silent.end();
    expect(world.memory.lastNotKept("dev")?.reason).toBe("The run did not send its files.");
    expect(await world.now()).toEqual({ a: "one" });
  });

  test("may become empty: deletions are changes", async () => {
    const world = memoryWorld();
    const run = await world.start("dev-1");
    await run.write({ a: "one" });
    await run.end();
    const next = await world.start("dev-2");
    await next.write({});
    await next.end();
    expect(world.memory.head("dev")).toMatchObject({ n: 2, files: [] });
  });
});

describe("a shared memory", () => {
  const team = { name: "team", isWriter: true, maxBytes: 100, maxFileBytes: 60 };

  test("is written by its writers and read by the others", async () => {
    const world = memoryWorld();
    const writer = await world.start("ops-1", {
      item: manualItem("a", "ops"),
      config: { shared: [team] },
    });
    expect(await writer.trees()).toMatchObject([
      { name: "memory" },
      { name: "shared/team", put: true },
    ]);
    await writer.write({ own: "1" });
    await writer.write({ facts: "2" }, { tree: "shared/team" });
    await writer.end();
    expect(await world.now("shared/team")).toEqual({ facts: "2" });
    expect(await world.now("ops")).toEqual({ own: "1" });
    const shared = [{ ...team, isWriter: false }];
    const reader = await world.start("dev-1", { config: { shared } });
    expect(reader.job).toMatchObject([
      { tree: "memory", isReadOnly: false },
      { tree: "shared/team", isReadOnly: true },
    ]);
    expect(await reader.read("shared/team")).toEqual({ facts: "2" });
    await reader.write({ facts: "3" }, { tree: "shared/team" });
    await reader.end();
    expect(await world.now("shared/team")).toEqual({ facts: "2" });
  });
});
