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
  /** The line without any known secret, in whatever part of it. */
  readonly redact: (entry: LogEntry) => LogEntry;
}

/** What happens, as lines: in files, on the terminal and on the dashboard. */
export function createJournal(sinks: JournalSinks): Journal {
  return {
    event: (event) => {
      for (const entry of logEntriesOf(event)) {
        sinks.write(entry);
        // What agents say fills their own logs; the scheduler's terminal tells what it does.
        if (event.type !== "output") sinks.tell(sinks.redact(entry));
      }
    },
    say: (level, msg) => {
      const entry = sinks.redact({ level, time: Date.now(), msg, agent: "scheduler" });
      sinks.write(entry);
      sinks.tell(entry);
      sinks.status({ type: "scheduler-log", entry });
    },
  };
}
