import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withLock } from "./lock.ts";
import { perTest } from "./per-test.ts";
import { pause } from "./pause.ts";

const dir = perTest(
  () => mkdtempSync(join(tmpdir(), "al-lock-")),
  (path) => rmSync(path, { recursive: true }),
);

test("a lock between test processes is held by one process at a time, and is released after a failure", async () => {
  const path = join(dir(), "lock");
  let inside = 0;
  const most: number[] = [];
  const work = async () => {
    most.push(++inside);
    await pause(20, "others try to take the lock meanwhile");
    inside -= 1;
  };
  await Promise.all([withLock(path, work), withLock(path, work), withLock(path, work)]);
  expect(most).toEqual([1, 1, 1]);
  await expect(withLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await withLock(path, work);
});

test("a lock between test processes is taken over from a process that died", async () => {
  const path = join(dir(), "lock");
  const { pid } = spawnSync("true");
  writeFileSync(path, String(pid));
  await expect(withLock(path, () => Promise.resolve("done"))).resolves.toBe("done");
});
