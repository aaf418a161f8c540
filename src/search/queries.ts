import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import type { SearchPage, SearchQuery } from "../contracts/search.ts";
import { UserError } from "../errors.ts";
import type { QueryAnswer } from "./query-worker.ts";

export interface QueriesOptions {
  readonly projectDir: string;
  /** How long one search may take; then its thread ends. */
  readonly timeoutMs?: number;
  /** The thread ends when it was not asked for so long. */
  readonly idleMs?: number;
}

/** Searches that wait for the one that runs. */
const maxWaiting = 20;

/**
 * Searches in a thread of their own, which the first one starts: SQLite answers while its caller waits, and the scheduler
 * has other work.
 */
export function createQueries({ projectDir, timeoutMs = 5_000, idleMs = 60_000 }: QueriesOptions) {
  let thread: Worker | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  const end = (): Promise<unknown> => {
    const ended = thread?.terminate() ?? Promise.resolve();
    thread = null;
    return ended;
  };

  const start = async (): Promise<Worker> => {
    const { startThread } = await import("./thread.ts");
    const started = startThread("query-worker", { projectDir });
    // What ends it while it is idle is for the next search to find.
    started.on("error", () => undefined);
    started.once("exit", () => {
      if (thread === started) thread = null;
    });
    return started;
  };

  const ask = async (query: SearchQuery): Promise<SearchPage> => {
    if (isClosed) throw unavailable("the scheduler stops", undefined);
    clearTimeout(idle);
    thread ??= await start();
    const asked = thread;
    try {
      const answer = answerOf(asked, timeoutMs);
      asked.postMessage(query);
      return pageOf(await answer);
    } catch (error) {
      if (error instanceof UserError) throw error;
      // SQLite can't be interrupted from here: what it does goes on until its next row, and then its thread is gone.
      void end();
      throw unavailable(`the search took more than ${timeoutMs / 1000} s, or failed`, error);
    } finally {
      idle = setTimeout(() => void end(), idleMs).unref();
    }
  };

  return {
    /** One search after the other. Rejects with UserError `bad_search`, `bad_cursor` or `search_unavailable`. */
    find: async (query: SearchQuery): Promise<SearchPage> => {
      if (waiting >= maxWaiting) throw unavailable("too many searches wait", undefined);
      waiting += 1;
      const page = turn.then(() => ask(query)).finally(() => (waiting -= 1));
      turn = page.catch(() => null);
      return page;
    },
    close: async (): Promise<void> => {
      isClosed = true;
      clearTimeout(idle);
      await end();
    },
  };
}

async function answerOf(thread: Worker, timeoutMs: number): Promise<QueryAnswer> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  thread.once("exit", end);
  try {
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(timeoutMs)]);
    const [answer] = (await once(thread, "message", { signal })) as [QueryAnswer];
    return answer;
  } finally {
    thread.off("exit", end);
  }
}

function pageOf(answer: QueryAnswer): SearchPage {
  if (answer.type === "page") return answer.page;
  if (answer.type === "failed")
    throw unavailable(`the search failed: ${answer.message}`, undefined);
  const { code, message, hint } = answer;
  throw new UserError(code, message, hint === null ? {} : { hint });
}

function unavailable(message: string, cause: unknown): UserError {
  return new UserError("search_unavailable", message, {
    hint: "try again, with more or longer words",
    cause,
  });
}
