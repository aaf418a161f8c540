import type { SearchPage, SearchQuery } from "../../foundation/contracts/search.ts";
import { UserError } from "../../foundation/errors.ts";
import { askedThread } from "./asked-thread.ts";
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
  const thread = askedThread<SearchQuery, QueryAnswer>(async () => {
    const { startThread } = await import("./thread.ts");
    return startThread("query-worker", { projectDir });
  }, idleMs);
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let isClosed = false;

  const ask = async (query: SearchQuery): Promise<SearchPage> => {
    if (isClosed) throw unavailable("the scheduler stops", undefined);
    try {
      return pageOf(await thread.ask(query, AbortSignal.timeout(timeoutMs)));
    } catch (error) {
      if (error instanceof UserError) throw error;
      // SQLite can't be interrupted from here: what it does goes on until its next row, and then its thread is gone.
      void thread.end();
      throw unavailable(`the search took more than ${timeoutMs / 1000} s, or failed`, error);
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
      await thread.close();
    },
  };
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
