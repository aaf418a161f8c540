import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isFiltered, type LogChoice } from "../kit/list-view.ts";
import { firstLog, openLog, type FirstPart } from "./log-session.ts";
import { exactTime } from "../text/format.ts";

interface LogOptions {
  /** The part that the page was rendered with; null if it is read first. */
  readonly first: FirstPart | null;
  readonly pageLines?: number;
}

/** The chosen part of an agent's log, live; another choice is read at once. */
export function useLog(agent: string, choice: LogChoice, options: LogOptions) {
  const [state, setState] = useState(() => firstLog(choice, options.first));
  const session = useRef<ReturnType<typeof openLog>>(null);
  useEffect(() => {
    const isFirst = choice === state.choice;
    const first = isFirst ? options.first : null;
    const start = { first, state: isFirst ? state : firstLog(choice, null) };
    const opened = openLog(agent, start, setState, options.pageLines);
    session.current = opened;
    return opened.close;
  }, [choice]);
  return { ...state, retry: () => session.current?.retry(), session };
}

const bottomPx = 8;

/** Keeps a scrolled box at its newest line until the reader scrolls up; at the bottom it follows again. */
export function useFollow() {
  const box = useRef<HTMLDivElement>(null);
  const [isOn, setOn] = useState(true);
  const now = useRef({ isOn: true, lastTop: 0, kept: null as KeptLine | null });
  const toBottom = (): void => {
    if (box.current === null) return;
    box.current.scrollTop = box.current.scrollHeight;
    now.current.lastTop = box.current.scrollTop;
  };
  const set = (wanted: boolean): void => {
    if (wanted) toBottom();
    now.current.isOn = wanted;
    setOn(wanted);
  };
  const stay = (): void => {
    const { current: element } = box;
    const { kept } = now.current;
    if (element === null) return;
    if (kept !== null) element.scrollTop += kept.element.getBoundingClientRect().top - kept.top;
    now.current.kept = null;
    if (now.current.isOn) toBottom();
    else now.current.lastTop = element.scrollTop;
  };
  useLayoutEffect(stay);
  useEffect(() => {
    addEventListener("resize", stay);
    return () => removeEventListener("resize", stay);
  }, []);
  return {
    box,
    isOn,
    set,
    /** Keeps the first line in its place on the screen during the next change of content. */
    keepPlace: (): void => {
      set(false);
      const element = box.current?.querySelector(".line");
      const isThere = element !== null && element !== undefined;
      now.current.kept = isThere ? { element, top: element.getBoundingClientRect().top } : null;
    },
    onScroll: (): void => {
      const { current: element } = box;
      if (element === null) return;
      const isAtBottom =
        element.scrollHeight - element.clientHeight - element.scrollTop <= bottomPx;
      // Content that grows between a scroll and its event leaves the bottom too: only scrolling up is the reader's.
      if (isAtBottom) set(true);
      else if (element.scrollTop < now.current.lastTop) set(false);
      now.current.lastTop = element.scrollTop;
    },
  };
}

/** A line whose place on the screen is kept. */
interface KeptLine {
  readonly element: Element;
  readonly top: number;
}

export type LogState = ReturnType<typeof useLog>;

/** Why a log page shows no lines. */
export function emptyText(log: LogState, isAgent: boolean): string {
  const { choice, isReading, isSearching, isCleared } = log;
  if (isReading || isSearching) return isFiltered(choice) ? "Searching …" : "Reading the log …";
  if (isCleared) return "Cleared. New lines appear here; the log file keeps the old ones.";
  if (isFiltered(choice)) return "No matching lines.";
  if (choice.instance !== "") {
    return "No lines of this run: it has logged nothing yet, or its log is no longer kept.";
  }
  return `No lines yet. They appear here as the ${isAgent ? "agent runs" : "scheduler works"}.`;
}

/** How far a filter has searched, or where the log begins. */
export function reachedText({
  choice,
  older,
  reachedAt,
  isReading,
  isSearching,
}: LogState): string {
  if (older !== null && !isReading) {
    const isKnown = isFiltered(choice) && reachedAt !== null;
    if (!isKnown) return "";
    return `${isSearching ? "Searching …" : "Searched"} back to ${exactTime(reachedAt)}.`;
  }
  if (isFiltered(choice)) return "No earlier match.";
  return choice.instance === "" ? "The log begins here." : "The run begins here.";
}
