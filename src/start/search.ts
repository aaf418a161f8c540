import { ignoreElements, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { LogSearch } from "../foundation/contracts/search.ts";
import { createIndexing } from "../features/search/indexing.ts";
import { createQueries } from "../features/search/queries.ts";

export interface SearchDeps {
  readonly projectDir: string;
  readonly warn: (message: string) => void;
}

/** The search over all logs, and the index that it has of them. */
export interface Search extends LogSearch {
  /** Indexes log files as they grow. */
  index(grown$: Observable<string>): Observable<never>;
  /** Log files may have been deleted. */
  pruned(): void;
  close(): Promise<void>;
}

/** Its threads begin with the first lines and the first search, so that a start costs nothing more. */
export function createSearch({ projectDir, warn }: SearchDeps): Search {
  const indexing = createIndexing({ projectDir, warn });
  const queries = createQueries({ projectDir });
  return {
    find: (query) => queries.find(query),
    index: (grown$) => grown$.pipe(tap(indexing.grew), ignoreElements()),
    pruned: () => indexing.pruned(),
    close: async () => {
      await queries.close();
      await indexing.close();
    },
  };
}
