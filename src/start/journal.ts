import { logEntriesOf } from "../../streams/status/log-entries.ts";
import type { StatusEvent } from "../../streams/status/reduce-status.ts";
import type { LogEntry, LogLevel, RunEvent } from "../../streams/vocabulary.ts";

export interface Journal {
  /** Writes the lines of an event to its agent's log; tells the operator those that the scheduler itself says. */
  event(event: RunEvent): void;
  /** A line of the scheduler's own. */
  say(level: LogLevel, msg: string): void;
}

/** Where lines go. */
export interface JournalSinks {
  /** The log files. */
  readonly write: (entry: LogEntry) => void;
  /** Whoever started the scheduler. */
  readonly tell: (entry: LogEntry) => void;
  readonly status: (event: StatusEvent) => void;
  readonly redact: (text: string) => string;
}

/** What happens, as lines: in files, on the terminal and on the dashboard. */
export function createJournal(sinks: JournalSinks): Journal {
  return {
    event: (event) => {
      for (const entry of logEntriesOf(event)) {
        sinks.write(entry);
        // What agents say fills their own logs; the scheduler's terminal tells what it does.
        if (event.type !== "output") sinks.tell({ ...entry, msg: sinks.redact(entry.msg) });
      }
    },
    say: (level, msg) => {
      const time = Date.now();
      const entry: LogEntry = { level, time, msg: sinks.redact(msg), agent: "scheduler" };
      sinks.write(entry);
      sinks.tell(entry);
      sinks.status({ type: "scheduler-log", entry });
    },
  };
}
