import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** One JSON document for each run, by instance id, in a folder of the scheduler's user, which is made when it is needed. */
export interface RecordFiles<T> {
  /** The whole document or none is there after a crash. */
  write(instanceId: string, record: T): Promise<void>;
  /** Null when there is none that can be read. */
  read(instanceId: string): Promise<T | null>;
  remove(instanceId: string): Promise<void>;
  /** Instance ids. */
  list(): Promise<readonly string[]>;
}

const ending = ".json";

export function createRecordFiles<T>(dir: string): RecordFiles<T> {
  const pathOf = (instanceId: string) => join(dir, `${instanceId}${ending}`);
  return {
    write: async (instanceId, record) => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const path = pathOf(instanceId);
      await writeFile(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
    read: async (instanceId) => {
      try {
        return JSON.parse(await readFile(pathOf(instanceId), "utf8")) as T;
      } catch {
        return null;
      }
    },
    remove: (instanceId) => rm(pathOf(instanceId), { force: true }),
    list: async () => {
      const names = await readdir(dir).catch(() => []);
      return names
        .filter((name) => name.endsWith(ending))
        .map((name) => name.slice(0, -ending.length));
    },
  };
}
