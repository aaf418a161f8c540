import { operationsOf } from "../../foundation/operation.ts";
import { searchPageSchema, searchQuerySchema } from "./search-report.ts";
import type { Search } from "./search.ts";

export interface SearchContext {
  readonly search: Pick<Search, "find">;
}

export const searchLogs = operationsOf<SearchContext>("Logs").read("/api/search", {
  summary: "Search the logs of all agents",
  description:
    "Runs with lines that match, each with the first of them and their neighbours. Only letters and digits are " +
    "searched for.",
  input: searchQuerySchema,
  output: searchPageSchema,
  problems: [400, 503],
  perform: (query, { search }) => search.find(query),
});
