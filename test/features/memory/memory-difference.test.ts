import { createMemoryReports } from "../../../src/features/memory/memory-reports.ts";
import { memoryWorld, type Texts } from "./support.ts";

/** A memory with these versions, one after the other, as people see it. */
async function reportsOf(...versions: readonly Texts[]) {
  const world = memoryWorld();
  for (const [index, texts] of versions.entries()) {
    const run = await world.start(`dev-${index}`, {
      config: { maxBytes: 10_000_000, maxFileBytes: 1_000_000 },
    });
    await run.write(texts);
    await run.end();
  }
  const { memory: store, blobs } = world;
  return createMemoryReports({ store, blobs, optionsOf: () => null });
}

describe("the difference between two versions of a memory", () => {
  test("shows added, changed and removed texts in the order of their paths", async () => {
    const reports = await reportsOf(
      { "a.md": "one\n", "b/c.md": "two\n", same: "same" },
      { "a.md": "one\nmore", d: "new\n", same: "same" },
    );
    expect(await reports.difference("dev", {})).toEqual({
      name: "dev",
      from: 1,
      to: 2,
      changes: {
        count: 3,
        files: [
          { path: "a.md", change: "changed" },
          { path: "b/c.md", change: "removed" },
          { path: "d", change: "added" },
        ],
      },
      text: `--- version-1/a.md
+++ version-2/a.md
@@ -1,1 +1,2 @@
 one
+more
--- version-1/b/c.md
+++ /dev/null
@@ -1,1 +0,0 @@
-two
--- /dev/null
+++ version-2/d
@@ -0,0 +1,1 @@
+new
`,
    });
    expect((await reports.difference("dev", { from: 2, to: 2 })).text).toBe("");
  });

  test("compares no binary or large files, and counts the files after a long text", async () => {
    const large = "x\n".repeat(140_000);
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`z${n + 10}`, `${"y".repeat(19_999)}\n`]),
    );
    const reports = await reportsOf(
      { bin: "\0", large },
      { bin: "\0\0", large: `${large}x`, ...many },
    );
    const { text } = await reports.difference("dev", {});
    expect(text.slice(0, 171)).toBe(`--- version-1/bin
+++ version-2/bin
\\ not compared: 1 byte before, 2 bytes after
--- version-1/large
+++ version-2/large
\\ not compared: 273.4 KiB before, 273.4 KiB after
`);
    expect(text.slice(-24)).toBe("\\ 10 more changed files\n");
    expect(text.length).toBeLessThan(230_000);
  });

  test("of an unknown version or memory is a problem", async () => {
    const reports = await reportsOf({ a: "one" });
    await expect(reports.difference("dev", { to: 7 })).rejects.toMatchObject({
      code: "unknown_version",
    });
    await expect(reports.difference("owl", {})).rejects.toMatchObject({ code: "unknown_memory" });
  });
});

test("a binary or large file has no text, and a path that a version lacks is a problem", async () => {
  const reports = await reportsOf({ bin: "\0", text: "one" });
  expect(await (await reports.file("dev", "bin")).text()).toBeNull();
  expect(await (await reports.file("dev", "text", 1)).text()).toBe("one");
  await expect(reports.file("dev", "none")).rejects.toMatchObject({ code: "not_found" });
});
