import type { LogPageAnswer } from "../../views/log-page.ts";
import { withQuery, pathOf } from "../text/addresses.ts";
import { isFiltered, type LogChoice } from "../kit/list-view.ts";
import type { LogLine } from "./log-rows.ts";
import { fetchJson } from "../live/api.ts";
import { followLog } from "../live/live.ts";

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
  /** Whether earlier parts of the log are being searched: few lines matched so far. */
  readonly isSearching: boolean;
  readonly isCleared: boolean;
  /** Whether the line in the address is no longer in the log. */
  readonly isGone: boolean;
  /** How many lines came over the stream. */
  readonly received: number;
  /** Why lines could not be read; empty if they could. */
  readonly failure: string;
}

/** A direction in the log from a position. */
export type Side = "before" | "after";
type PlacedEntry = Pick<LogLine, "position" | "entry">;
export type LogPart = Omit<LogPageAnswer, "lines"> & { readonly lines: readonly PlacedEntry[] };

/** The part of a log that a page begins with. */
export interface FirstPart extends LogPart {
  /** Whether the line that the address names is no longer in the log. */
  readonly isGone: boolean;
}

/** Reads a part of a log by the address of the API; null if it can't be read. */
type ReadPart = (path: string) => Promise<LogPart | null>;

/** Lines before and after the one that the address names. */
const aroundLines = 60;
/** Lines that are read at a time. */
const pageLines = 100;
/** Lines that a page holds. */
const maxLines = 5_000;
/** Errors that are read at a time to find the first one. */
const mostErrors = 1_000;
const retryMs = 3_000;

/** Reads the lines around the one that a choice names, or the newest ones. */
export async function readFirstPart(
  agent: string,
  choice: LogChoice,
  read: ReadPart,
  limit = pageLines,
): Promise<FirstPart | null> {
  const { at } = choice;
  const chosen = shownLines(choice);
  const newest = async (isGone: boolean): Promise<FirstPart | null> => {
    const part = await read(partPath(agent, { ...chosen, limit }));
    return part && { ...part, isGone };
  };
  if (at === "") return newest(false);
  const before = await read(partPath(agent, { ...chosen, before: at, limit: aroundLines }));
  const after = await read(partPath(agent, { ...chosen, after: at, limit: aroundLines }));
  if (before === null || after === null) return null;
  if (!before.lines.some(({ position }) => position === at)) return newest(true);
  const { older, reachedAt } = before;
  return { ...after, older, reachedAt, lines: [...before.lines, ...after.lines], isGone: false };
}

/** Around a line all lines are shown; its matches are for going on. */
function shownLines(choice: LogChoice) {
  const { instance, q, level } = choice;
  return isFiltered(choice) ? { instance, q, level } : { instance, q: "", level: "" };
}

function partPath(agent: string, query: Parameters<typeof withQuery>[1]): string {
  return withQuery(pathOf`/api/logs/agents/${agent}`, query);
}

/** The state of a log with its first part, or before anything is read. */
export function firstLog(choice: LogChoice, part: FirstPart | null): LogState {
  const { lines = [], older = null, newer = null, reachedAt = null } = part ?? {};
  return {
    choice,
    lines: lines.map((line, seq) => ({ ...line, seq })),
    older,
    newer: part?.atEnd === true ? null : newer,
    reachedAt,
    isReading: part === null,
    isSearching: false,
    isCleared: false,
    isGone: part?.isGone === true,
    received: 0,
    failure: "",
  };
}

interface LogStart {
  readonly first: FirstPart | null;
  /** The state that is shown with the first part. */
  readonly state: LogState;
}

/** Reads a part of a log unless it begins with one, then follows it. `limit` is how many lines are read at a time. */
export function openLog(
  agent: string,
  { first, ...start }: LogStart,
  onChange: (state: LogState) => void,
  limit = pageLines,
) {
  const { choice } = start.state;
  const chosen = shownLines(choice);
  let { state } = start;
  let live: ReturnType<typeof followLog> | null = null;
  let isClosed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const change = (more: Partial<LogState>): void => {
    state = { ...state, ...more };
    if (!isClosed) onChange(state);
  };
  const read: ReadPart = async (path) => {
    const fetched = await fetchJson<LogPart>(path);
    const failure = fetched.ok ? "" : fetched.detail;
    if (failure !== state.failure) change({ failure });
    return fetched.ok && !isClosed ? fetched.value : null;
  };
  const readMore = (from: object, limitNow = limit) =>
    read(partPath(agent, { ...chosen, ...from, limit: limitNow }));
  const fresh = gatherForFrame((lines) => {
    // The shown lines end before the followed lines begin.
    if (state.newer !== null) return;
    change({ received: state.received + lines.length, ...withBelow(state.lines, lines) });
  });
  const followFrom = ({ atEnd, newer }: LogPart): void => {
    if (!atEnd) return;
    live?.close();
    live = followLog({ agent, ...chosen, after: newer, lines: limit }, fresh.add);
  };
  /** Reads back until so many more lines are shown, or the beginning of the log: one part may have none that match. */
  const readEarlier = async (wanted: number, beforeChange = () => {}): Promise<void> => {
    let missing = wanted;
    while (missing > 0 && state.older !== null) {
      const page = await readMore({ before: state.older }, missing);
      if (page === null) break;
      beforeChange();
      missing -= page.lines.length;
      const { older, reachedAt } = page;
      change({ older, reachedAt, ...withAbove(state.lines, page.lines) });
    }
  };
  const load = async (): Promise<void> => {
    clearTimeout(timer);
    const part = await readFirstPart(agent, choice, read, limit);
    if (isClosed) return;
    if (part === null) timer = setTimeout(() => void load(), retryMs);
    else {
      change(firstLog(choice, part));
      void begin(part);
    }
  };
  const begin = async (part: LogPart): Promise<void> => {
    followFrom(part);
    if (!isFiltered(choice)) return;
    change({ isSearching: true });
    await readEarlier(limit - part.lines.length);
    change({ isSearching: false });
  };

  if (first === null) {
    change({});
    void load();
  } else void begin(first);
  return {
    /** Reads a page of earlier lines; `beforeChange` is called before they are shown. */
    earlier: (beforeChange: () => void) => readEarlier(limit, beforeChange),
    ...searchesOf(choice, readMore),
    /** Reads a page of later lines; `beforeChange` is called before they are shown. */
    later: async (beforeChange: () => void): Promise<void> => {
      const page = state.newer === null ? null : await readMore({ after: state.newer });
      if (page === null) return;
      beforeChange();
      change({ newer: page.atEnd ? null : page.newer, ...withBelow(state.lines, page.lines) });
      followFrom(page);
    },
    /** Shows only lines that come from now on. */
    clear: (): void => {
      fresh.drop();
      change({ lines: [], isCleared: true });
    },
    /** Reads the log again that could not be read. */
    retry: load,
    close: (): void => {
      isClosed = true;
      clearTimeout(timer);
      live?.close();
    },
  };
}

/** Gathers lines until the next frame: they come faster than frames, and a hidden page has none. */
function gatherForFrame(show: (lines: readonly PlacedEntry[]) => void) {
  let waiting: PlacedEntry[] = [];
  const drop = (): void => {
    waiting = [];
  };
  const flush = (): void => {
    const lines = waiting;
    drop();
    if (lines.length > 0) show(lines);
  };
  return {
    add: (line: PlacedEntry): void => {
      if (waiting.push(line) === 1) requestAnimationFrame(flush);
      if (waiting.length > maxLines) waiting.shift();
    },
    drop,
  };
}

/** Lines with others below them; if there are too many, the first ones are left out. */
function withBelow(lines: readonly LogLine[], added: readonly PlacedEntry[]): Partial<LogState> {
  const next = (lines.at(-1)?.seq ?? -1) + 1;
  const all = [...lines, ...added.map((line, index) => ({ ...line, seq: next + index }))];
  const surplus = all.length - maxLines;
  const older = surplus > 0 ? { older: all[surplus - 1]?.position ?? null } : {};
  return { ...older, lines: all.slice(-maxLines) };
}

/** Lines with others above them; if there are too many, the last ones are left out. */
function withAbove(lines: readonly LogLine[], added: readonly PlacedEntry[]): Partial<LogState> {
  const first = (lines[0]?.seq ?? 0) - added.length;
  const all = [...added.map((line, index) => ({ ...line, seq: first + index })), ...lines];
  const newer = all.length > maxLines ? { newer: all[maxLines - 1]?.position ?? null } : {};
  return { ...newer, lines: all.slice(0, maxLines) };
}

/** Finds lines of a log; `readMore` reads so many lines from a position. */
function searchesOf(
  { instance, q, level }: LogChoice,
  readMore: (from: object, limit: number) => Promise<LogPart | null>,
) {
  /**
   * The position of the next match on one side of a position, or of the last match for ""; null without a match,
   * undefined if the log can't be read.
   */
  const matchBeside = async (from: string, side: Side, matches: object = { q, level }) => {
    const way = from === "" ? "before" : side;
    let place: string | null = from;
    while (place !== null) {
      const page: LogPart | null = await readMore({ q: "", ...matches, [way]: place }, 2);
      if (page === null) return undefined;
      // The line at the position itself is before it.
      const others = page.lines.filter(({ position }) => position !== from);
      const found = others.at(way === "before" ? -1 : 0);
      if (found !== undefined) return found.position;
      place = way === "before" ? page.older : page.atEnd ? null : page.newer;
    }
    return null;
  };
  /** The position of the first error of the run, or of the log's last one; else as `matchBeside`. */
  const errorPosition = async () => {
    if (instance === "") return matchBeside("", "before", { level: "error" });
    let first: string | null = null;
    let before: string | null = "";
    while (before !== null) {
      const page: LogPart | null = await readMore({ q: "", level: "error", before }, mostErrors);
      if (page === null) return undefined;
      first = page.lines[0]?.position ?? first;
      before = page.older;
    }
    return first;
  };
  return { matchBeside, errorPosition };
}
