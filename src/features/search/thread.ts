import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

const maxHeapMb = 256;

/** Starts a thread of this room; it does not keep the process alive. */
export function startThread(name: "index-worker" | "query-worker", workerData: unknown): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb };
  const options = { workerData, resourceLimits, execArgv: [], env: {} };
  const thread = new Worker(pathOf(name), options);
  thread.unref();
  return thread;
}

/** In the built tree every module is in a folder beside it. */
function pathOf(name: string): string {
  const built = join(import.meta.dirname, "..", "features/search", `${name}.js`);
  return existsSync(built) ? built : join(import.meta.dirname, `${name}.ts`);
}
