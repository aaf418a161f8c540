import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopStartedEngine } from "./started-engine.ts";
import { leftBehind, tracesOf } from "./left-behind.ts";

/**
 * Before the first test: builds the program that tests start, when a source is newer than it. After the last one: fails
 * for what a test left behind.
 */
export default function setUp(): () => Promise<void> {
  const setup = spawnSync(process.execPath, ["src/setup/checkout.mjs"], { stdio: "inherit" });
  if (setup.status !== 0) throw new Error("the program could not be built");
  // Short, as the path of a socket has at most 107 bytes; other OS users read some folders in it.
  const folder = mkdtempSync(join(tmpdir(), "al-"));
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  process.env.AL_TEST_RUN = String(process.pid);
  const before = tracesOf(folder);
  return async () => {
    await stopStartedEngine();
    const left = leftBehind(folder, before, tracesOf(folder));
    for (const line of left) process.stderr.write(`left behind: ${line}\n`);
    if (left.length > 0) process.exitCode = 1;
    rmSync(folder, { recursive: true, force: true });
  };
}
