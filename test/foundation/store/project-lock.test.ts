import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { statSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockProject, readSchedulerInfo } from "../../../src/foundation/store/project-lock.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const info = {
  pid: process.pid,
  startedAt: "2026-11-21T00:00:00.000Z",
  socketPath: null,
  gatewayUrl: null,
  version: "1.2.3",
};

function lock(dir: string) {
  const held = lockProject(dir, info);
  onTestFinished(() => held.release());
  return held;
}

/** Another process that holds the lock of `dir` until it is killed. */
async function holder(dir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "holder.ts"), dir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

test("a second scheduler learns which process holds the project", async () => {
  const dir = tempDir();
  const child = await holder(dir);
  const hint = `Stop it with \`al stop --project ${dir}\`.`;
  expect(() => lock(dir)).toThrow(
    expect.objectContaining({ code: "project_locked", exitCode: 1, hint }),
  );
  expect(() => lock(dir)).toThrow(`already running (pid ${child.pid}) at http://localhost:8080`);
});

test("the command line finds a live scheduler, never a dead one", async () => {
  const dir = tempDir();
  expect(readSchedulerInfo(dir)).toBeNull();
  expect(existsSync(join(dir, ".al"))).toBe(false);
  const child = await holder(dir);
  expect(readSchedulerInfo(dir)).toMatchObject({ pid: child.pid, socketPath: "/tmp/x.sock" });
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(existsSync(join(dir, ".al/run/scheduler.json"))).toBe(true);
  expect(readSchedulerInfo(dir)).toBeNull();
});

test("the lock of a killed process is free, even when its pid is reused", async () => {
  const dir = tempDir();
  const child = await holder(dir);
  child.kill("SIGKILL");
  await once(child, "exit");
  const path = join(dir, ".al/run/scheduler.json");
  writeFileSync(path, readFileSync(path, "utf8").replace(String(child.pid), "1"));
  expect(readSchedulerInfo(dir)).toBeNull();
  lock(dir);
  expect(readSchedulerInfo(dir)).toEqual(info);
});

test("a release of the lock frees the project and removes the record", () => {
  const dir = tempDir();
  const first = lock(dir);
  expect(() => lock(dir)).toThrow("already running");
  first.release();
  first.release();
  expect(existsSync(join(dir, ".al/run/scheduler.json"))).toBe(false);
  lock(dir);
});

test("a second try of the lock in the same process does not free the lock for others", () => {
  const dir = tempDir();
  lock(dir);
  expect(() => lock(dir)).toThrow("already running");
  expect(readSchedulerInfo(dir)).toEqual(info);
  const holder = join(import.meta.dirname, "holder.ts");
  const other = spawnSync(process.execPath, [holder, dir], { encoding: "utf8", timeout: 20_000 });
  expect(other.status).toBe(1);
  expect(other.stderr).toContain(`already running (pid ${process.pid}`);
});

test("the scheduler's address is readable by its owner only", () => {
  const dir = tempDir();
  lock(dir).announce({ ...info, gatewayUrl: "http://localhost:9" });
  expect(readSchedulerInfo(dir)?.gatewayUrl).toBe("http://localhost:9");
  expect(statSync(join(dir, ".al/run/scheduler.json")).mode & 0o777).toBe(0o600);
  expect(statSync(join(dir, ".al")).mode & 0o777).toBe(0o700);
  expect(readFileSync(join(dir, ".al/.gitignore"), "utf8")).toBe("*\n");
});
