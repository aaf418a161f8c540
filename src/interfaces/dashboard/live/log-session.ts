import type { AgentStatus } from "../../../../streams/status/wire.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import type { LogPageAnswer } from "../../views/log-page.ts";
import { withQuery } from "../text/addresses.ts";
import type { LogChoice } from "../text/log-choice.ts";
import type { LogLine } from "../text/log-lines.ts";
import { fetchJson } from "./api.ts";
import { openLive } from "./live.ts";
import type { LiveConnection, LiveState } from "./live.ts";

/** The part of a log that a page shows. */
interface LogState {
  readonly choice: LogChoice;
  readonly lines: readonly LogLine[];
  /** Where the earlier lines end; null if the first line of the log is shown. */
  readonly older: string | null;
  /** Where the later lines begin; null while the newest line is shown, and new ones come over the stream. */
  readonly newer: string | null;
  /** Time of the earliest line that was searched, epoch ms. */
  readonly reachedAt: number | null;
  readonly isReading: boolean;
  readonly isCleared: boolean;
  /** Whether the line that the address names is no longer in the log. */
  readonly isGone: boolean;
  /** How many lines came over the stream. */
  readonly received: number;
}

/** The state before anything is read. */
export function unreadLog(choice: LogChoice): LogState {
  const flags = { isReading: true, isCleared: false, isGone: false };
  return { choice, lines: [], older: null, newer: null, reachedAt: null, ...flags, received: 0 };
}

interface LogEvents {
  readonly change: (state: LogState) => void;
  /** The agent as it is now; null if it was removed. */
  readonly agent: (agent: AgentStatus | null) => void;
  readonly entry: (entry: LogEntry) => void;
  readonly connection: (state: LiveState) => void;
}

type PlacedEntry = Pick<LogLine, "position" | "entry">;
type LogPart = Omit<LogPageAnswer, "lines"> & { readonly lines: readonly PlacedEntry[] };

/** Lines before and after the one that the address names. */
const aroundLines = 60;
/** Lines that a page holds. */
const maxLines = 5_000;
const retryMs = 3_000;

/** Reads a part of a log, then follows it. `pageLines` is how many lines are read at a time. */
export function openLog(agent: string, choice: LogChoice, on: LogEvents, pageLines = 100) {
  const name = encodeURIComponent(agent);
  const { at, ...chosen } = choice;
  let state = unreadLog(choice);
  let live: LiveConnection | null = null;
  let waiting: PlacedEntry[] = [];
  let isClosed = false;

  const change = (more: Partial<LogState>): void => {
    state = { ...state, ...more };
    if (!isClosed) on.change(state);
  };
  const addBelow = (added: readonly PlacedEntry[], more: Partial<LogState>): void => {
    const next = (state.lines.at(-1)?.seq ?? -1) + 1;
    const all = [...state.lines, ...added.map((line, index) => ({ ...line, seq: next + index }))];
    const surplus = all.length - maxLines;
    const older = surplus > 0 ? { older: all[surplus - 1]?.position ?? null } : {};
    change({ ...more, ...older, lines: all.slice(-maxLines) });
  };
  const addAbove = (added: readonly PlacedEntry[], more: Partial<LogState>): void => {
    const first = (state.lines[0]?.seq ?? 0) - added.length;
    const all = [...added.map((line, index) => ({ ...line, seq: first + index })), ...state.lines];
    const newer = all.length > maxLines ? { newer: all[maxLines - 1]?.position ?? null } : {};
    change({ ...more, ...newer, lines: all.slice(0, maxLines) });
  };

  const read = async (from: object, limit = pageLines): Promise<LogPart | null> => {
    const path = withQuery(`/api/logs/agents/${name}`, { ...chosen, ...from, limit });
    const fetched = await fetchJson<LogPart>(path);
    return fetched.ok && !isClosed ? fetched.value : null;
  };
  const flush = (): void => {
    const fresh = waiting;
    waiting = [];
    if (fresh.length === 0 || state.newer !== null) return;
    addBelow(fresh, { received: state.received + fresh.length });
  };
  const receive = (line: PlacedEntry): void => {
    on.entry(line.entry);
    // The shown lines end before those that come now.
    if (state.newer !== null) return;
    // Lines come faster than frames, and a hidden page has none.
    if (waiting.push(line) === 1) requestAnimationFrame(flush);
    if (waiting.length > maxLines) waiting.shift();
  };
  const follow = (position: string | null, lines: number): void => {
    live?.close();
    live = openLive({
      url: (lastId) => {
        const after = lastId === "" ? position : lastId;
        const query = { ...chosen, after, lines, status: "true" };
        return withQuery(`/dashboard/api/logs/${name}/stream`, query);
      },
      on: {
        log: (data, position) => receive({ position, entry: JSON.parse(data) as LogEntry }),
        agent: (data) => on.agent(JSON.parse(data) as AgentStatus | null),
      },
      onState: on.connection,
    });
  };
  const followFrom = ({ atEnd, newer }: LogPart): void => {
    if (atEnd) follow(newer, pageLines);
    else if (live === null) follow(null, 0);
  };

  const around = async (): Promise<boolean> => {
    const before = await read({ before: at }, aroundLines);
    const after = await read({ after: at }, aroundLines);
    if (before === null || after === null) return false;
    if (!before.lines.some(({ position }) => position === at)) return newest(true);
    const { older, reachedAt } = before;
    const newer = after.atEnd ? null : after.newer;
    addBelow([...before.lines, ...after.lines], { older, newer, reachedAt, isReading: false });
    followFrom(after);
    return true;
  };
  const newest = async (isGone: boolean): Promise<boolean> => {
    const page = await read({});
    if (page === null) return false;
    const { lines, older, reachedAt } = page;
    addBelow(lines, { older, reachedAt, isReading: false, isGone });
    followFrom(page);
    return true;
  };
  const load = async (): Promise<void> => {
    const isLoaded = at === "" ? await newest(false) : await around();
    if (isLoaded || isClosed) return;
    on.connection("lost");
    setTimeout(() => void (isClosed ? undefined : load()), retryMs);
  };

  change({});
  void load();
  return {
    /** Reads a page of earlier lines; `beforeChange` is called before they are shown. */
    earlier: async (beforeChange: () => void): Promise<void> => {
      const page = state.older === null ? null : await read({ before: state.older });
      if (page === null) return;
      beforeChange();
      addAbove(page.lines, { older: page.older, reachedAt: page.reachedAt });
    },
    /** Reads a page of later lines; `beforeChange` is called before they are shown. */
    later: async (beforeChange: () => void): Promise<void> => {
      const page = state.newer === null ? null : await read({ after: state.newer });
      if (page === null) return;
      beforeChange();
      addBelow(page.lines, { newer: page.atEnd ? null : page.newer });
      followFrom(page);
    },
    /** Shows nothing but the lines that come from now on. */
    clear: (): void => {
      waiting = [];
      change({ lines: [], isCleared: true });
    },
    /** Receives no more lines; those that are shown stay. */
    stop: (): void => live?.close(),
    close: (): void => {
      isClosed = true;
      live?.close();
    },
  };
}
