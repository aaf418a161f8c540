import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { pause } from "./pause.ts";

/** Does the work while no other process of this machine does; the file names the one that does. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  while (!take(path)) await pause(200, "the holder of a lock tells nobody when it releases it");
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** A test run that was killed leaves its lock behind. */
function take(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, path);
    return true;
  } catch {
    if (!lives(holderOf(path))) rmSync(path, { force: true });
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Null when it was given back meanwhile. */
function holderOf(path: string): number | null {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

function lives(pid: number | null): boolean {
  if (pid === null) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
