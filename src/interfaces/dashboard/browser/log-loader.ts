import type { AgentStatus } from "../../../../streams/status/wire.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import type { LogPageAnswer } from "../../../foundation/contracts/log-page.ts";
import { withQuery } from "./addresses.ts";
import { fetchJson } from "./api.ts";
import { openLive } from "./live.ts";
import type { LiveConnection } from "./live.ts";
import { requestOfChoice } from "./log-choice.ts";
import type { LogChoice } from "./log-choice.ts";
import type { PlacedEntry } from "./log-view.ts";
import { showConnection } from "./site.ts";

type LogPart = Omit<LogPageAnswer, "lines"> & { readonly lines: readonly PlacedEntry[] };

/** What came of a look for lines. */
export interface LoadedLines {
  readonly lines: readonly PlacedEntry[];
  /** The line that the address names was asked for, and is not in the log. */
  readonly isGone: boolean;
}

/** Reads the lines of a log that a page shows, and those that come. */
export interface LogLoader {
  /** Reads the part of a choice; null when the scheduler does not answer, or was asked for another one meanwhile. */
  load(choice: LogChoice): Promise<LoadedLines | null>;
  earlier(): Promise<readonly PlacedEntry[]>;
  later(): Promise<readonly PlacedEntry[]>;
  /** The page shows lines after, or before, this position no more. */
  dropBefore(position: string): void;
  dropAfter(position: string): void;
  readonly hasEarlier: () => boolean;
  readonly hasLater: () => boolean;
  /** Time of the earliest line that was looked at, epoch ms. */
  readonly reachedAt: () => number | null;
}

const pageLines = 100;
/** Lines before and after the one that the address names. */
const aroundLines = 60;

/** What comes over the stream. */
export interface LogEvents {
  line(line: PlacedEntry): void;
  /** The agent as it is now; null when it is gone. */
  agent(agent: AgentStatus | null): void;
}

export function createLogLoader(agent: string, on: LogEvents): LogLoader {
  const name = encodeURIComponent(agent);
  let choice: LogChoice = { instance: "", q: "", level: "", at: "" };
  let older: string | null = null;
  /** Null while the newest line is shown, and new ones come over the stream. */
  let newer: string | null = null;
  let reachedAt: number | null = null;
  let live: LiveConnection | null = null;

  const ask = async (
    from: { readonly before?: string; readonly after?: string },
    limit: number,
  ): Promise<LogPart | null> => {
    const asked = choice;
    const query = { ...requestOfChoice(choice), ...from, limit };
    const page = await fetchJson<LogPart>(withQuery(`/api/logs/agents/${name}`, query));
    // What was asked for before another choice is no part of that one.
    return page.ok && asked === choice ? page.value : null;
  };
  const stop = (): void => {
    live?.close();
    live = null;
  };
  const open = (position: string | null, lines: number): void => {
    stop();
    live = openLive({
      url: (lastId) => {
        const after = lastId === "" ? position : lastId;
        const query = { ...requestOfChoice(choice), after, lines, status: "true" };
        return withQuery(`/dashboard/api/logs/${name}/stream`, query);
      },
      on: {
        log: (data, id) => {
          // Lines that follow on others than the shown ones are left out.
          const entry = JSON.parse(data) as LogEntry;
          if (newer === null) on.line({ position: id, entry });
        },
        agent: (data) => on.agent(JSON.parse(data) as AgentStatus | null),
      },
      onState: showConnection,
    });
  };
  const showNewer = (page: LogPart): void => {
    newer = page.atEnd ? null : page.newer;
    if (page.atEnd) open(page.newer, pageLines);
    else if (live === null) open(null, 0);
  };
  const loadNewest = async (isGone: boolean): Promise<LoadedLines | null> => {
    const page = await ask({}, pageLines);
    if (page === null) return null;
    ({ older, reachedAt } = page);
    showNewer(page);
    return { lines: page.lines, isGone };
  };
  const loadAround = async (at: string): Promise<LoadedLines | null> => {
    const before = await ask({ before: at }, aroundLines);
    const after = await ask({ after: at }, aroundLines);
    if (before === null || after === null) return null;
    if (!before.lines.some(({ position }) => position === at)) return loadNewest(true);
    ({ older, reachedAt } = before);
    showNewer(after);
    return { lines: [...before.lines, ...after.lines], isGone: false };
  };

  return {
    load: (wanted) => {
      stop();
      choice = wanted;
      older = newer = null;
      return wanted.at === "" ? loadNewest(false) : loadAround(wanted.at);
    },
    earlier: async () => {
      if (older === null) return [];
      const page = await ask({ before: older }, pageLines);
      if (page === null) return [];
      ({ older, reachedAt } = page);
      return page.lines;
    },
    later: async () => {
      if (newer === null) return [];
      const page = await ask({ after: newer }, pageLines);
      if (page === null) return [];
      showNewer(page);
      return page.lines;
    },
    dropBefore: (position) => {
      older = position;
    },
    dropAfter: (position) => {
      newer = position;
    },
    hasEarlier: () => older !== null,
    hasLater: () => newer !== null,
    reachedAt: () => reachedAt,
  };
}
