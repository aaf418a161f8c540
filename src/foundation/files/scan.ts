import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { imageContextStamp } from "../contracts/image-context.ts";
import { hasCode, isMissing, messageOf } from "../errors.ts";
import { isOfAgent } from "./classify.ts";

/** The watched files and agent directories that there are: path relative to the project → its stamp. */
export type Scan = ReadonlyMap<string, string>;

/** Directories looked at together; more would only wait for the file system's threads. */
const atOnce = 16;

/**
 * Looks at every file that the program reads: `config.toml` and of each agent its directory and files. A Dockerfile
 * changes with what it may copy, which without one costs nothing. Rejects when `agents` can't be read: what can't be
 * seen is not gone.
 */
export async function scanProject(projectDir: string): Promise<Scan> {
  const found = new Map<string, string>();
  const look = async (path: string): Promise<void> => {
    const stamp = await stampOf(join(projectDir, path));
    if (stamp !== null) found.set(path, stamp);
  };
  const lookAtAgent = async (name: string): Promise<void> => {
    const dir = `agents/${name}`;
    await look(dir);
    const files = await readdir(join(projectDir, dir)).catch(() => []);
    await Promise.all(files.filter(isOfAgent).map((file) => look(`${dir}/${file}`)));
    const dockerfile = found.get(`${dir}/Dockerfile`);
    if (dockerfile === undefined) return;
    const context = await imageContextStamp(join(projectDir, dir));
    found.set(`${dir}/Dockerfile`, `${dockerfile} ${context}`);
  };
  await look("config.toml");
  const names = await namesIn(join(projectDir, "agents"));
  for (let i = 0; i < names.length; i += atOnce) {
    await Promise.all(names.slice(i, i + atOnce).map(lookAtAgent));
  }
  return found;
}

/**
 * A file's stamp changes with its content, its inode (a rename over it) and its mode. A directory's is only its
 * inode: files that nothing reads come and go in it. What can't be looked at is there, with that for a stamp.
 */
async function stampOf(path: string): Promise<string | null> {
  try {
    const stats = await stat(path, { bigint: true });
    const { dev, ino, mode, size, mtimeNs, ctimeNs } = stats;
    return (stats.isDirectory() ? [dev, ino] : [dev, ino, mode, size, mtimeNs, ctimeNs]).join(":");
  } catch (error) {
    return isGone(error) ? null : messageOf(error);
  }
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** A link that leads in a circle leads to nothing either. */
function isGone(error: unknown): boolean {
  return isMissing(error) || hasCode(error, "ELOOP");
}
