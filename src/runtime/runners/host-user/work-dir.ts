import { chmod, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** The folder of temporary files inside a run's working directory, removed with it. */
export function tempDirOf(workDir: string): string {
  return join(workDir, ".tmp");
}

/** Creates a run's working directory for the calling user only; an existing one is rejected. */
export async function makeWorkDir(workDir: string): Promise<void> {
  await mkdir(workDir, { mode: 0o700 });
  await mkdir(tempDirOf(workDir), { mode: 0o700 });
}

/**
 * Removes a working directory with its contents; removing a missing one is not an error. Rejects if it belongs to another
 * user, who can make one of that name first in a shared folder.
 */
export async function removeWorkDir(workDir: string): Promise<void> {
  const found = await lstat(workDir).catch(() => null);
  if (found !== null && found.uid !== process.getuid?.()) {
    throw new Error(`${workDir} belongs to another OS user`);
  }
  const options = { recursive: true, force: true, maxRetries: 3, retryDelay: 50 };
  try {
    await rm(workDir, options);
  } catch {
    await openUp(workDir);
    await rm(workDir, options);
  }
}

/** An agent may have removed its own permissions to a folder, without which only root can remove its contents. */
async function openUp(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => null);
  if (!stat?.isDirectory()) return;
  await chmod(path, 0o700).catch(() => undefined);
  for (const name of await readdir(path).catch(() => [])) await openUp(join(path, name));
}
