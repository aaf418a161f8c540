import type { LogEntry } from "../../../streams/vocabulary.ts";

/**
 * The kinds of a run's log entries, with the fields of each beside its text. `said`, the model's text, is named as in
 * existing log files.
 */
export const logKinds = [
  /** The model's text. */
  "said",
  /** The model's input before its first turn: `output`, in pieces. */
  "prompt",
  /** A message of a person to the run: `by`. */
  "steer",
  /** A call: `tool`, `input`, and `call`, its id, which the lines below repeat. */
  "tool",
  /** Output of a running call since the line before, if any: `tool`, `output`, `leftOut`, `durationMs`. */
  "tool-output",
  /** The answer to a call: `tool`, `output`, `isError`, `durationMs`. */
  "tool-result",
  /** Tokens of one turn. */
  "usage",
  /** A switch from one model to the next. */
  "fallback",
  "hook",
  /** A host that was denied: `host`, `port`, `reason`. */
  "network",
  /** A call of an MCP server's tool, or a problem of one: `server`, `tool`, `durationMs`, `bytes`, `error`. */
  "mcp",
  /** A raw line of a process. */
  "process",
  /** Start and end of the run itself, and notes about it. */
  "run",
] as const;
export type LogKind = (typeof logKinds)[number];

/** The kind of an entry; null for a line of the scheduler, and for a kind that is not known. */
export function kindOf({ kind }: LogEntry): LogKind | null {
  return logKinds.find((known) => known === kind) ?? null;
}
