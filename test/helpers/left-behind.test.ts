import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { leftBehind, tracesOf } from "./left-behind.ts";
import { tempDir } from "./temp-dir.ts";

test("leftBehind lists a file and a process of a test run until they are gone", async () => {
  const folder = tempDir();
  const before = tracesOf(folder);
  mkdirSync(join(folder, "al-project/.al"), { recursive: true });
  const child = spawn(process.execPath, ["-e", "setInterval(String, 1_000)"], {
    env: { TMPDIR: folder },
  });
  await once(child, "spawn");
  expect(leftBehind(folder, before, tracesOf(folder))).toEqual([
    expect.stringContaining(`processes: ${child.pid ?? 0} ${process.execPath} -e`),
    "files: al-project .al",
  ]);
  child.kill();
  await once(child, "exit");
  expect(leftBehind(folder, before, tracesOf(folder))).toEqual(["files: al-project .al"]);
});

test("leftBehind lists a network namespace and an OS user that a test run added", () => {
  const folder = tempDir();
  const before = tracesOf(folder);
  const after = { ...before, networks: ["al-net"], users: [...before.users, "al-test-user"] };
  expect(leftBehind(folder, before, after)).toEqual(["networks: al-net", "users: al-test-user"]);
});
