/**
 * The kinds of lines that can be asked for: the kinds of a run's log entries, but for counts of tokens, which hold no
 * text; `scheduler` for lines without a kind, and `error` for lines of any kind that report an error.
 */
export const searchKinds = [
  "said",
  "tool",
  "tool-result",
  "fallback",
  "hook",
  "network",
  "process",
  "run",
  "scheduler",
  "error",
  // The index stores the place in this list.
  "prompt",
  "steer",
  "mcp",
] as const;
export type SearchKind = (typeof searchKinds)[number];
