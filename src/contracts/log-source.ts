import type { Observable } from "rxjs";
import type { LogEntry } from "../../streams/vocabulary.ts";

/** A log line with the position after it, `<file name>:<byte offset>`, from which a reader can go on. */
export interface LogLine {
  readonly id: string;
  readonly entry: LogEntry;
}

export interface LogQuery {
  /** Null: all agents and the scheduler, merged by time. */
  readonly agent: string | null;
  /** Only lines of this run. */
  readonly instanceId: string | null;
  /** How many of the last lines to begin with. */
  readonly lines: number;
  /** Begin after this position instead, with nothing lost or doubled; an unknown position counts as null. */
  readonly after: string | null;
}

/** Reads the log files of a project. */
export interface LogSource {
  /** The lines so far, oldest first. */
  read(query: LogQuery): Promise<readonly LogLine[]>;
  /** The lines so far, then each new line within 500 ms, across the change of file at midnight. Cold. */
  follow(query: LogQuery): Observable<LogLine>;
}
