import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { nextLine } from "../../helpers/next-line.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import type { ProbeReading, Sample } from "./reading.ts";

const probe = new URL("./probe.ts", import.meta.url).href;

/** The environment that puts the probe into a scheduler of this project. */
export function probeEnv(project: TestProject): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `--import ${probe}`, AL_PROBE: probeFile(project) };
}

const probeFile = ({ dir }: TestProject): string => join(dir, "..", "probe.ndjson");

/** Reads a scheduler that was started with the probe. `began` is of `performance.now()`. */
export async function takeSample(scheduler: TestScheduler, began: number): Promise<Sample> {
  const reading = await nextLine<ProbeReading>(scheduler, probeFile(scheduler.project));
  const seconds = (performance.now() - began) / 1000;
  return { ...reading, seconds, ...(await systemView(scheduler.pid)) };
}

async function systemView(pid: number) {
  const fds = await readdir(`/proc/${pid}/fd`);
  const infos = await Promise.all(fds.map((fd) => textOf(`/proc/${pid}/fdinfo/${fd}`)));
  const inotifyWatches = infos.reduce((sum, text) => sum + text.split("inotify wd:").length - 1, 0);
  const children = (await textOf(`/proc/${pid}/task/${pid}/children`)).split(" ").length - 1;
  return { fds: fds.length, inotifyWatches, children };
}

/** Empty if the file is gone by now. */
function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
