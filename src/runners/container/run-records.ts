import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";

/**
 * The config that each of the project's runs was started with, kept until its container is gone. Not a label of the
 * container, which every client of the engine can read.
 */
export interface RunRecords {
  write(request: RunRequest): Promise<void>;
  /** Null when there is none that can be read. */
  read(instanceId: string): Promise<AgentConfig | null>;
  remove(instanceId: string): Promise<void>;
  /** Instance ids. */
  list(): Promise<readonly string[]>;
}

const ending = ".json";

/** Records as files in a folder of the scheduler's user, which is made when it is needed. */
export function createRunRecords(dir: string): RunRecords {
  const pathOf = (instanceId: string) => join(dir, `${instanceId}${ending}`);
  return {
    write: async ({ instanceId, agent }) => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const path = pathOf(instanceId);
      await writeFile(`${path}.new`, JSON.stringify(agent), { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
    read: async (instanceId) => {
      try {
        return JSON.parse(await readFile(pathOf(instanceId), "utf8")) as AgentConfig;
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
