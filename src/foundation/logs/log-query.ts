import type { LogEntry } from "../../../streams/vocabulary.ts";

/** A log line with the position after it, `<file name>:<byte offset>`, from which a reader can continue. */
export interface LogLine {
  readonly id: string;
  readonly entry: LogEntry;
}

export interface LogQuery {
  /** Null: all agents and the scheduler, merged by time. */
  readonly agent: string | null;
  /** Only lines of this run. */
  readonly instanceId: string | null;
  /** Number of last lines to send first. */
  readonly lines: number;
  /** Begin after this position instead, with nothing lost or doubled; an unknown position counts as null. */
  readonly after: string | null;
  /** Only files of the days of these times, epoch ms: an old run is found without reading younger files. */
  readonly times?: { readonly from: number; readonly to: number };
}

/** Which lines of a log are shown. */
export interface LogFilter {
  /** pino's number: lines of this level and above. */
  readonly level: number;
  /** Lines with this text, in any case; all lines for "". */
  readonly text: string;
}

/** Which lines of an agent's log are requested, and from where. */
export interface LogPageQuery {
  readonly agent: string;
  /** Only lines of this run. */
  readonly instanceId: string | null;
  readonly filter: LogFilter;
  /** Limit of matching lines. */
  readonly lines: number;
  /** Backward from this position, or from the end for null; or forward from it. */
  readonly from: { readonly before: string | null } | { readonly after: string };
}

/** A part of a log. A scan is bounded: it may end with fewer lines than requested. */
export interface LogPage {
  /** Oldest first. */
  readonly lines: readonly LogLine[];
  /** Where a backward scan continues; null at the beginning. */
  readonly older: string | null;
  /** Where a forward scan, or a follower, continues; null for an empty log. */
  readonly newer: string | null;
  /** No line was after `newer`. */
  readonly atEnd: boolean;
  /** Time of the farthest line that was read, epoch ms. */
  readonly reachedAt: number | null;
}
