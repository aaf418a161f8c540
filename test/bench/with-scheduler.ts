import { readFile } from "node:fs/promises";
import { startTestScheduler, type TestProject, type TestScheduler } from "../helpers/scheduler.ts";

/** Starts a scheduler on the project, hands it on, and takes both away again. `readyMs` is from spawn to ready. */
export async function withScheduler<T>(
  making: Promise<TestProject>,
  use: (scheduler: TestScheduler, readyMs: number) => Promise<T>,
  envOf: (project: TestProject) => NodeJS.ProcessEnv = () => ({}),
): Promise<T> {
  const project = await making;
  try {
    const began = performance.now();
    const options = { args: ["--headless"], env: envOf(project) };
    const scheduler = await startTestScheduler(project, options);
    try {
      return await use(scheduler, performance.now() - began);
    } finally {
      await scheduler.stop();
    }
  } finally {
    await project.remove();
  }
}

/** Resident memory of a process, in MB. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
