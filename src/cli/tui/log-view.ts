import { useInput } from "ink";
import { createElement as h, useState } from "react";
import type { ReactElement } from "react";
import { commandOf, keyNames } from "./keys.ts";
import type { Command } from "./keys.ts";
import { anchorAt, linesDownTo, logFrame, logLines, logScreen } from "./log-screen.ts";
import type { LogAnchor } from "./log-screen.ts";
import { Screen } from "./screen.ts";
import type { ScreenStyle } from "./screen.ts";
import { useLog } from "./use-log.ts";
import type { ViewSource } from "./view-state.ts";

export interface LogViewProps {
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
      const by = scrollBy(commandOf(name), room);
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

/** How many lines further down; null for a key that scrolls nothing. */
function scrollBy(command: Command | null, room: number): number | null {
  const steps: Partial<Record<Command, number>> = {
    up: -1,
    down: 1,
    "page-up": 1 - room,
    "page-down": room - 1,
    first: -Infinity,
    last: Infinity,
  };
  return command === null ? null : (steps[command] ?? null);
}
