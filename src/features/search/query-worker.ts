import { parentPort, workerData } from "node:worker_threads";
import type { SearchPage, SearchQuery } from "../../foundation/contracts/search.ts";
import { messageOf, UserError } from "../../foundation/errors.ts";
import { searchLogs } from "./search-logs.ts";

/** An answer of the thread that searches. */
export type QueryAnswer =
  | { readonly type: "page"; readonly page: SearchPage }
  | {
      readonly type: "refused";
      readonly code: string;
      readonly message: string;
      readonly hint: string | null;
    }
  | { readonly type: "failed"; readonly message: string };

const { projectDir } = workerData as { readonly projectDir: string };

async function answerTo(query: SearchQuery): Promise<QueryAnswer> {
  try {
    return { type: "page", page: await searchLogs({ projectDir }, query) };
  } catch (error) {
    if (!(error instanceof UserError)) return { type: "failed", message: messageOf(error) };
    const { code, message, hint } = error;
    return { type: "refused", code, message, hint };
  }
}

parentPort?.on("message", (query: SearchQuery) => {
  void answerTo(query).then((answer) => parentPort?.postMessage(answer));
});
