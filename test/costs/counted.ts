import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { nextLine } from "../helpers/next-line.ts";
import { startTestScheduler, type TestProject } from "../helpers/scheduler.ts";

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

/** Starts the built program with the counters in it. The caller stops it. */
export async function startCounted(project: TestProject, countsObjects = false) {
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
  return {
    ...scheduler,
    counts: () => nextLine<Counts>(scheduler, path),
    /** The open file descriptors. */
    openFiles: async (): Promise<readonly string[]> => {
      const names = await readdir(`/proc/${pid}/fd`);
      const links = names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => ""));
      return (await Promise.all(links)).filter((link) => link !== "");
    },
    threads: async () => (await readdir(`/proc/${pid}/task`)).length,
  };
}

/** A live scheduler that counts. */
export type Counted = Awaited<ReturnType<typeof startCounted>>;
