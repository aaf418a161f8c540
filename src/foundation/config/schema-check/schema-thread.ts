import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { SchemaAnswer, SchemaRequest } from "./schema-request.ts";

const maxHeapMb = 256;
/** Until it has loaded: a busy machine takes its time. */
const startTimeoutMs = 30_000;

/** Starts the thread that checks schemas; it does not keep the process alive. Rejects when it can't. */
export async function startSchemaThread(): Promise<Worker> {
  const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb };
  const thread = new Worker(workerPath(), { resourceLimits, execArgv: [], env: {} });
  // What ends it while it is idle is for the next request to find.
  thread.on("error", () => undefined);
  await nextAnswer(thread, startTimeoutMs);
  return thread;
}

/** Rejects when the answer takes longer, and when the thread ends before it. */
export function askSchemaThread(
  thread: Worker,
  request: SchemaRequest,
  timeoutMs: number,
): Promise<SchemaAnswer> {
  const answer = nextAnswer(thread, timeoutMs);
  thread.postMessage(request);
  return answer;
}

async function nextAnswer(thread: Worker, timeoutMs: number): Promise<SchemaAnswer> {
  thread.ref();
  const ended = new AbortController();
  const end = (): void => ended.abort();
  thread.once("exit", end);
  try {
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(timeoutMs)]);
    const [answer] = (await once(thread, "message", { signal })) as [SchemaAnswer];
    return answer;
  } finally {
    thread.off("exit", end);
    thread.unref();
  }
}

/** In the built tree every module is in a folder beside it. */
function workerPath(): string {
  const built = join(
    import.meta.dirname,
    "..",
    "foundation/config/schema-check",
    "schema-worker.js",
  );
  return existsSync(built) ? built : join(import.meta.dirname, "schema-worker.ts");
}
