import type { SearchKind } from "../../../foundation/contracts/search-kinds.ts";

/** The kinds of lines in words. */
export const searchKindNames: Readonly<Record<SearchKind, string>> = {
  error: "errors",
  said: "said by the model",
  tool: "tool calls",
  "tool-result": "tool results",
  run: "start and end of runs",
  hook: "hooks",
  network: "denied hosts",
  fallback: "changes of model",
  process: "output of processes",
  scheduler: "the scheduler's own",
};
