import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
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
  const { project, pid } = scheduler;
  const before = (await readings(project)).length;
  scheduler.signal("SIGUSR2");
  for (let tries = 0; tries < 300; tries++) {
    await wait(100);
    const reading = (await readings(project))[before];
    if (reading === undefined) continue;
    const seconds = (performance.now() - began) / 1000;
    return { ...reading, seconds, ...(await systemView(pid)) };
  }
  throw new Error(`the scheduler was read 30 s ago and has not answered:\n${scheduler.output()}`);
}

async function readings(project: TestProject): Promise<readonly ProbeReading[]> {
  const text = await readFile(probeFile(project), "utf8").catch(() => "");
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as ProbeReading);
}

async function systemView(
  pid: number,
): Promise<Pick<Sample, "fds" | "inotifyWatches" | "children">> {
  const fds = await readdir(`/proc/${pid}/fd`);
  const infos = await Promise.all(fds.map((fd) => textOf(`/proc/${pid}/fdinfo/${fd}`)));
  const inotifyWatches = infos.reduce((sum, text) => sum + text.split("inotify wd:").length - 1, 0);
  const children = (await textOf(`/proc/${pid}/task/${pid}/children`)).split(" ").length - 1;
  return { fds: fds.length, inotifyWatches, children };
}

/** Nothing of what is gone by now. */
function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
