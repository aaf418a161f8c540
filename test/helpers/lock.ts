import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { pause } from "./pause.ts";

/** Does the work while no other process of this machine does; the file names the one that does. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  while (!takeLock(path)) await pause(200, "the holder of a lock tells nobody when it releases it");
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** Whether this process has the lock now. One of a test run that was killed is removed, for the next attempt. */
export function takeLock(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, path);
    return true;
  } catch {
    if (isAbandoned(path)) rmSync(path, { force: true });
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Whether the holder of a lock has ended. */
export function isAbandoned(path: string): boolean {
  try {
    process.kill(Number(readFileSync(path, "utf8")), 0);
    return false;
  } catch {
    // Without a file it was given back meanwhile.
    return existsSync(path);
  }
}
