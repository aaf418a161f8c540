import { useInput } from "ink";
import { createElement as h, useEffect, useState } from "react";
import type { ReactElement } from "react";
import { bufferTime, filter } from "rxjs";
import { commandOf, keyNames, rowsBy } from "./keys.ts";
import { anchorAt, linesDownTo, logFrame, logLines, logScreen } from "./log-screen.ts";
import type { LogAnchor } from "./log-screen.ts";
import { Screen } from "./screen.ts";
import type { ScreenStyle } from "./screen.ts";
import type { ViewSource } from "./view-state.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import type { LogSource } from "../../../foundation/contracts/log-source.ts";
import { messageOf } from "../../../foundation/errors.ts";

interface LogViewProps {
  readonly agent: string;
  readonly logs: ViewSource["logs"];
  readonly style: ScreenStyle;
  /** What a stop waits for; null while it doesn't stop. */
  readonly stopping: string | null;
}

/** The log of one agent: follows it, until the person scrolls up. */
export function LogView({ agent, logs, style, stopping }: LogViewProps): ReactElement {
  const log = useLog(logs, agent);
  const { entries } = log;
  const room = style.rows - logFrame;
  const [anchor, setAnchor] = useState<LogAnchor | null>(null);
  const lines = logLines(entries, style);
  const endOf = (place: LogAnchor | null): number =>
    Math.max(Math.min(room, lines.length), linesDownTo(place, entries, style));

  useInput((input, key) => {
    for (const name of keyNames(input, key)) {
      const by = rowsBy(commandOf(name), room - 1);
      if (by === null) continue;
      setAnchor((before) => {
        const end = Math.max(Math.min(room, lines.length), endOf(before) + by);
        return anchorAt(Math.min(lines.length, end), entries, style);
      });
    }
  });

  const below = lines.length - endOf(anchor);
  return h(Screen, { lines: logScreen({ ...log, agent, below, stopping }, lines, style) });
}

/** Lines to begin with, and the most that are kept. */
const firstLines = 500;
const mostLines = 5000;
/** Lines are gathered for this long, in ms: a run may write thousands a second. */
const gatherMs = 100;

interface FollowedLog {
  readonly entries: readonly LogEntry[];
  /** How many were let go at the beginning. */
  readonly dropped: number;
  /** Why nothing more comes; null while it is followed. */
  readonly problem: string | null;
}

const nothingYet: FollowedLog = { entries: [], dropped: 0, problem: null };

/** The log of an agent: its last lines, then what comes. */
function useLog(logs: Pick<LogSource, "follow">, agent: string): FollowedLog {
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
