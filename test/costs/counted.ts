import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { startTestScheduler, type TestProject, type TestScheduler } from "../helpers/scheduler.ts";
import { pause } from "../helpers/pause.ts";

/** Counts of a scheduler since its start. */
export interface Counts {
  /** SQL statements, including those that begin and end a transaction. */
  readonly statements: number;
  readonly commits: number;
  /** Paths of files, in order. */
  readonly opened: readonly string[];
  /** Handles that keep the process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>;
  /** Reachable objects, if asked for: that takes a second or so. */
  readonly objects: number;
}

/** A live scheduler that counts. */
export interface Counted extends TestScheduler {
  counts(): Promise<Counts>;
  /** The open file descriptors. */
  openFiles(): Promise<readonly string[]>;
  threads(): Promise<number>;
}

/** Starts the built program with the counters in it. The caller stops it. */
export async function startCounted(project: TestProject, countsObjects = false): Promise<Counted> {
  const path = join(project.dir, "..", "counts.ndjson");
  const preload = new URL("./count.ts", import.meta.url).href;
  const scheduler = await startTestScheduler(project, {
    args: ["--headless"],
    env: {
      NODE_OPTIONS: `--import ${preload}`,
      AL_COUNTS: path,
      AL_COUNTS_OBJECTS: countsObjects ? "1" : "",
    },
  });
  const { pid } = scheduler;
  const lines = async (): Promise<readonly string[]> =>
    (await readFile(path, "utf8").catch(() => "")).split("\n").slice(0, -1);
  return {
    ...scheduler,
    counts: async () => {
      const { length } = await lines();
      scheduler.signal("SIGUSR2");
      for (let tries = 0; tries < 600; tries++) {
        const line = (await lines())[length];
        if (line !== undefined) return JSON.parse(line) as Counts;
        await pause(50, "it is asked again");
      }
      throw new Error(`the scheduler did not tell its counts:\n${scheduler.output()}`);
    },
    openFiles: async () => {
      const names = await readdir(`/proc/${pid}/fd`);
      const links = names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => ""));
      return (await Promise.all(links)).filter((link) => link !== "");
    },
    threads: async () => (await readdir(`/proc/${pid}/task`)).length,
  };
}
