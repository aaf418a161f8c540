import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { messageOf } from "../errors.ts";
import type { IndexAnswer, IndexRequest } from "./index-worker.ts";

export interface IndexingOptions {
  readonly projectDir: string;
  readonly warn: (message: string) => void;
  /** Before the first pass: a start has other work. */
  readonly firstMs?: number;
  /** From a new line to the pass that finds it. */
  readonly delayMs?: number;
  /** From a pass that failed to the next one. */
  readonly retryMs?: number;
  /** The thread ends when there was nothing new for so long. */
  readonly idleMs?: number;
}

/**
 * Indexes log files in a thread, which is there while they grow. The scheduler only names files: the thread reads them
 * itself, and so nothing of a line is copied, and a line that was written while there was no thread is not lost.
 */
export function createIndexing(options: IndexingOptions) {
  const { projectDir, warn } = options;
  const { firstMs = 10_000, delayMs = 1_000, retryMs = 60_000, idleMs = 30_000 } = options;
  const names = new Set<string>();
  /** What was written or deleted before this scheduler. */
  let isAll = true;
  let waitMs = firstMs;
  let timer: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;
  let thread: Worker | null = null;
  let isBusy = false;
  let isClosed = false;

  const end = (): Promise<unknown> => {
    const ended = thread?.terminate() ?? Promise.resolve();
    thread = null;
    return ended;
  };

  const schedule = (): void => {
    if (isBusy || isClosed) return;
    clearTimeout(idle);
    timer ??= setTimeout(() => void pass(), waitMs).unref();
  };

  const pass = async (): Promise<void> => {
    timer = undefined;
    isBusy = true;
    const request: IndexRequest = { names: isAll ? null : [...names] };
    isAll = false;
    names.clear();
    try {
      await ask(request);
      waitMs = delayMs;
    } catch (error) {
      // Which of the files it had reached is not known.
      isAll = true;
      waitMs = retryMs;
      await end();
      if (!isClosed) warn(`search: log lines were not indexed: ${messageOf(error)}`);
    }
    isBusy = false;
    if (isAll || names.size > 0) schedule();
    else idle = setTimeout(() => void end(), idleMs).unref();
  };

  const ask = async (request: IndexRequest): Promise<void> => {
    thread ??= await startIndexThread(projectDir);
    const answer = answerOf(thread);
    thread.postMessage(request);
    const { problem } = await answer;
    if (problem !== null) throw new Error(problem);
  };

  return {
    /** A log file has new lines. */
    grew: (name: string): void => {
      names.add(name);
      schedule();
    },
    /** Log files may have been deleted. */
    pruned: (): void => {
      isAll = true;
      schedule();
    },
    close: async (): Promise<void> => {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(idle);
      await end();
    },
  };
}

async function startIndexThread(projectDir: string): Promise<Worker> {
  const { startThread } = await import("./thread.ts");
  const thread = startThread("index-worker", { projectDir });
  // What ends it while it is idle is for the next pass to find.
  thread.on("error", () => undefined);
  return thread;
}

async function answerOf(thread: Worker): Promise<IndexAnswer> {
  const ended = new AbortController();
  const end = (): void => ended.abort(new Error("its thread ended"));
  thread.once("exit", end);
  try {
    const [answer] = (await once(thread, "message", { signal: ended.signal })) as [IndexAnswer];
    return answer;
  } finally {
    thread.off("exit", end);
  }
}
