import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import type { SearchPage, SearchQuery } from "./search-report.ts";
import { messageOf, Problem } from "../../foundation/errors.ts";
import { placeOf } from "./scope.ts";
import type { SearchAnswer, SearchRequest } from "./search-thread.ts";
import { parseTerms } from "./terms.ts";

export interface SearchOptions {
  readonly projectDir: string;
  readonly warn: (message: string) => void;
  /**
   * Delay of the first pass after the start, and of a pass after a new line, unless a search comes before. A file costs
   * more than a line, and a burst touches a thousand files.
   */
  readonly delayMs?: number;
  /** How long one search may take; then the thread ends. */
  readonly timeoutMs?: number;
  /** The thread ends after this long without a request. */
  readonly idleMs?: number;
}

const retryMs = 60_000;
const maxHeapMb = 256;

export type Search = ReturnType<typeof createSearch>;

/**
 * The search over all logs. A thread indexes log files as they grow, and searches: SQLite blocks its caller, and the
 * scheduler has other work. The scheduler only names files; the thread reads them itself.
 */
export function createSearch(options: SearchOptions) {
  const { projectDir, warn } = options;
  const { delayMs = 10_000, timeoutMs = 7_000, idleMs = 30_000 } = options;
  const thread = askedThread(() => newThread(projectDir), idleMs);
  const names = new Set<string>();
  /** At first, files may have been written or deleted before this scheduler. */
  let isAll = true;
  let waitMs = delayMs;
  let hasFailed = false;
  let timer: NodeJS.Timeout | undefined;
  let passes = 0;
  let turn: Promise<unknown> = Promise.resolve();
  /** Searches that have no result yet, by their query: a page asks again for a result that came too late for its server. */
  const open = new Map<string, Promise<SearchPage>>();
  let isClosed = false;
  /** How many searches ended the thread, and a pass with it. */
  let ends = 0;

  const isDirty = (): boolean => isAll || names.size > 0;
  const schedule = (): void => {
    if (passes === 0 && !isClosed) timer ??= setTimeout(() => void index(), waitMs).unref();
  };
  const index = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const request: SearchRequest = { type: "index", names: isAll ? null : [...names] };
    isAll = false;
    names.clear();
    passes += 1;
    const endsBefore = ends;
    try {
      const answer = await thread.ask(request);
      if (answer.type === "failed") throw new Error(answer.message);
      waitMs = delayMs;
      hasFailed = false;
    } catch (error) {
      // It is unknown which files were indexed.
      isAll = true;
      // A search that took too long ended the thread: the pass itself did not fail.
      if (ends === endsBefore) {
        waitMs = retryMs;
        hasFailed = true;
        if (!isClosed) warn(`search: log lines were not indexed: ${messageOf(error)}`);
      }
    }
    passes -= 1;
    if (isDirty()) schedule();
  };
  /** Has new lines indexed first, unless that failed lately. */
  const ask = async (query: SearchQuery): Promise<SearchPage> => {
    if (isClosed) throw unavailable("the scheduler stops");
    const at = new Date().toISOString();
    if (isDirty() && !hasFailed) void index();
    const isAsked = !isDirty();
    let answer: SearchAnswer;
    try {
      answer = await thread.ask({ type: "search", query }, AbortSignal.timeout(timeoutMs));
    } catch (error) {
      // SQLite can't be interrupted from here: the thread ends after the current row.
      ends += 1;
      void thread.end();
      throw unavailable(`the search took more than ${timeoutMs / 1000} s, or failed`, error);
    }
    if (answer.type === "failed") throw unavailable(`the search failed: ${answer.message}`);
    const { page, isCurrent } = answer;
    if (page === null) throw unavailable("the search failed");
    return isAsked && isCurrent ? { ...page, indexedUntil: at, indexing: null } : page;
  };

  return {
    /** One search after the other, equal ones as one. Rejects with Problem `bad_search`, `bad_cursor` or `search_unavailable`. */
    find: async (query: SearchQuery): Promise<SearchPage> => {
      parseTerms(query.q);
      placeOf(query);
      const key = JSON.stringify(query);
      const known = open.get(key);
      if (known !== undefined) return known;
      const page = turn.then(() => ask(query)).finally(() => open.delete(key));
      open.set(key, page);
      turn = page.catch(() => null);
      return page;
    },
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
      await thread.end();
    },
  };
}

/** Starts a thread that does not keep the process alive. In the built tree the modules are in other folders. */
function newThread(projectDir: string): Worker {
  const built = join(import.meta.dirname, "..", "features/search/search-thread.js");
  const path = existsSync(built) ? built : join(import.meta.dirname, "search-thread.ts");
  const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb };
  const thread = new Worker(path, {
    workerData: { projectDir },
    resourceLimits,
    execArgv: [],
    env: {},
  });
  thread.unref();
  return thread;
}

function unavailable(message: string, cause?: unknown): Problem {
  return new Problem("search_unavailable", message, {
    hint: "try again, with more or longer words",
    cause,
  });
}

/** A thread that answers requests. It starts with the first one and ends after `idleMs` without any. */
function askedThread(start: () => Worker, idleMs: number) {
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let open = 0;

  const end = (): Promise<unknown> => {
    clearTimeout(idle);
    const ended = thread?.terminate() ?? Promise.resolve();
    thread = null;
    return ended;
  };
  const started = (): Worker => {
    const worker = start();
    worker.on("error", () => undefined);
    // A thread that ended while it was idle would never answer.
    worker.once("exit", () => {
      if (thread === worker) thread = null;
    });
    return worker;
  };

  return {
    /** Rejects when the thread ends, or the signal aborts. */
    ask: async (request: SearchRequest, signal?: AbortSignal): Promise<SearchAnswer> => {
      clearTimeout(idle);
      const worker = (thread ??= started());
      const { port1: own, port2: port } = new MessageChannel();
      const ended = new AbortController();
      const onExit = (): void => ended.abort(new Error("its thread ended"));
      worker.once("exit", onExit);
      open += 1;
      try {
        const signals = [ended.signal, ...(signal === undefined ? [] : [signal])];
        const answer = once(own, "message", { signal: AbortSignal.any(signals) });
        own.unref();
        worker.postMessage({ request, port }, [port]);
        const [message] = (await answer) as [SearchAnswer];
        return message;
      } finally {
        own.close();
        worker.off("exit", onExit);
        open -= 1;
        if (open === 0) idle = setTimeout(() => void end(), idleMs).unref();
      }
    },
    /** Ends the thread. The next request starts another. */
    end,
  };
}
