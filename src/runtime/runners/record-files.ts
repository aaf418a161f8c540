import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const ending = ".json";

export type RecordFiles<T> = ReturnType<typeof createRecordFiles<T>>;

/** One JSON document for each run, by instance id, in a folder of the scheduler's user that the first write creates. */
export function createRecordFiles<T>(dir: string) {
  const pathOf = (instanceId: string) => join(dir, `${instanceId}${ending}`);
  return {
    /** Atomic: after a crash the file has the complete new document, or the one before. */
    write: async (instanceId: string, record: T): Promise<void> => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const path = pathOf(instanceId);
      await writeFile(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
    /** Null if the record is missing or unreadable. */
    read: async (instanceId: string): Promise<T | null> => {
      try {
        return JSON.parse(await readFile(pathOf(instanceId), "utf8")) as T;
      } catch {
        return null;
      }
    },
    remove: (instanceId: string): Promise<void> => rm(pathOf(instanceId), { force: true }),
    /** Instance ids. */
    list: async (): Promise<readonly string[]> => {
      const names = await readdir(dir).catch(() => []);
      return names
        .filter((name) => name.endsWith(ending))
        .map((name) => name.slice(0, -ending.length));
    },
  };
}
