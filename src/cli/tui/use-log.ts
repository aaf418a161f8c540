import { useEffect, useState } from "react";
import { bufferTime, filter } from "rxjs";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import type { LogSource } from "../../contracts/log-source.ts";
import { messageOf } from "../../errors.ts";

/** Lines to begin with, and the most that are kept. */
const firstLines = 500;
const mostLines = 5000;
/** Lines are gathered for this long, in ms: a run may write thousands a second. */
const gatherMs = 100;

export interface FollowedLog {
  readonly entries: readonly LogEntry[];
  /** How many were let go at the beginning. */
  readonly dropped: number;
  /** Why nothing more comes; null while it is followed. */
  readonly problem: string | null;
}

const nothingYet: FollowedLog = { entries: [], dropped: 0, problem: null };

/** The log of an agent: its last lines, then what comes. */
export function useLog(logs: Pick<LogSource, "follow">, agent: string): FollowedLog {
  const [log, setLog] = useState(nothingYet);
  useEffect(() => {
    setLog(nothingYet);
    const following = logs
      .follow({ agent, instanceId: null, lines: firstLines, after: null })
      .pipe(
        bufferTime(gatherMs),
        filter((lines) => lines.length > 0),
      )
      .subscribe({
        next: (lines) =>
          setLog((before) =>
            append(
              before,
              lines.map(({ entry }) => entry),
            ),
          ),
        error: (error: unknown) =>
          setLog((before) => ({ ...before, problem: `can't be read: ${messageOf(error)}` })),
      });
    return () => following.unsubscribe();
  }, [logs, agent]);
  return log;
}

function append(log: FollowedLog, more: readonly LogEntry[]): FollowedLog {
  const all = [...log.entries, ...more];
  const excess = Math.max(0, all.length - mostLines);
  return { ...log, entries: all.slice(excess), dropped: log.dropped + excess };
}
