import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { nextLine } from "../../../helpers/next-line.ts";
import type { TestProject, TestScheduler } from "../../../helpers/scheduler.ts";

const probe = new URL("./probe.ts", import.meta.url).href;

/** What the probe inside a scheduler reads of it after a garbage collection. */
export interface ProbeReading {
  /** Without what V8 compiled. */
  readonly heapBytes: number;
  /** How late the event loop was since the last reading, in ms: the median. */
  readonly lateMs: number;
  /** Handles that keep the process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>;
}

/** The environment that puts the probe into a scheduler of this project. */
export function probeEnv(project: TestProject): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `--import ${probe}`, AL_PROBE: probeFile(project) };
}

const probeFile = ({ dir }: TestProject): string => join(dir, "..", "probe.ndjson");

/** Reads a scheduler that was started with the probe, and what the system says of it at the same moment. */
export async function takeSample({ pid, ...scheduler }: TestScheduler) {
  const reading = await nextLine<ProbeReading>({ pid, ...scheduler }, probeFile(scheduler.project));
  const fds = await readdir(`/proc/${pid}/fd`);
  const infos = await Promise.all(fds.map((fd) => textOf(`/proc/${pid}/fdinfo/${fd}`)));
  const inotifyWatches = infos.reduce((sum, text) => sum + text.split("inotify wd:").length - 1, 0);
  const children = (await textOf(`/proc/${pid}/task/${pid}/children`)).split(" ").length - 1;
  return { ...reading, fds: fds.length, inotifyWatches, children };
}

export type Sample = Awaited<ReturnType<typeof takeSample>>;

/** Empty if the file is gone by now. */
function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
