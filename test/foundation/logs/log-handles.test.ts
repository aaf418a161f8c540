import { readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLogHandles } from "../../../src/foundation/logs/log-handles.ts";

/** Empty for the descriptor that the list itself was read by. */
function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return "";
  }
}

/** Handles of a new folder, and the names of its files that this process has open. */
async function opened(capacity: number, idleMs: number) {
  const dir = await mkdtemp(join(tmpdir(), "al-handles-"));
  const handles = createLogHandles(capacity, idleMs);
  onTestFinished(async () => {
    await handles.close();
    await rm(dir, { recursive: true });
  });
  // In one go, so that no timer closes a file while this looks.
  const open = (): readonly string[] =>
    readdirSync("/proc/self/fd")
      .map(linkOf)
      .filter((link) => link.startsWith(dir))
      .map((link) => link.slice(dir.length + 1));
  const append = (name: string, text: string): Promise<unknown> =>
    handles.append(join(dir, name), Buffer.from(text));
  const text = (name: string): Promise<string> => readFile(join(dir, name), "utf8");
  return { append, open, text };
}

test("as many files as there is room for stay open, the most recently used ones", async () => {
  const { append, open } = await opened(2, 60_000);
  for (const name of ["a", "b", "c"]) await append(name, "line\n");
  expect([...open()].sort()).toEqual(["b", "c"]);
});

test("a file that nobody writes to any more is closed, and opened again for its next line", async () => {
  const { append, open, text } = await opened(64, 100);
  await append("quiet", "one\n");
  const stillOpen = async () => {
    await append("busy", "line\n");
    return open();
  };
  await expect.poll(stillOpen, { interval: 20 }).toEqual(["busy"]);
  await append("quiet", "two\n");
  expect(open()).toContain("quiet");
  expect(await text("quiet")).toBe("one\ntwo\n");
  await expect.poll(open).toEqual([]);
});
