import { messageOf } from "../../foundation/errors.ts";
import { askedThread } from "./asked-thread.ts";
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
  const thread = askedThread<IndexRequest, IndexAnswer>(async () => {
    const { startThread } = await import("./thread.ts");
    return startThread("index-worker", { projectDir });
  }, idleMs);
  const names = new Set<string>();
  /** What was written or deleted before this scheduler. */
  let isAll = true;
  let waitMs = firstMs;
  let timer: NodeJS.Timeout | undefined;
  let isBusy = false;
  let isClosed = false;

  const schedule = (): void => {
    if (isBusy || isClosed) return;
    timer ??= setTimeout(() => void pass(), waitMs).unref();
  };

  const pass = async (): Promise<void> => {
    timer = undefined;
    isBusy = true;
    const request: IndexRequest = { names: isAll ? null : [...names] };
    isAll = false;
    names.clear();
    try {
      const { problem } = await thread.ask(request);
      if (problem !== null) throw new Error(problem);
      waitMs = delayMs;
    } catch (error) {
      // Which of the files it had reached is not known.
      isAll = true;
      waitMs = retryMs;
      await thread.end();
      if (!isClosed) warn(`search: log lines were not indexed: ${messageOf(error)}`);
    }
    isBusy = false;
    if (isAll || names.size > 0) schedule();
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
      await thread.close();
    },
  };
}
