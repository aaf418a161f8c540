import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { createRunningCalls } from "./log-calls.ts";
import { createLogHeadings } from "./log-headings.ts";
import { createLogRow } from "./log-row.ts";
import type { LogRow } from "./log-row.ts";

/** The lines that the page shows. */
export interface LogView {
  add(entries: readonly LogEntry[]): void;
  clear(): void;
  /** Lines below the level, or without the text, are hidden. */
  filter(level: number, text: string): void;
  setRaw(isRaw: boolean): void;
  readonly count: () => number;
  readonly hiddenCount: () => number;
}

/** Lines and headings that the page holds; the oldest go when more come. */
const maxElements = 5_000;

/** A line of the log, or a heading: of all lines up to the next one that is as high or higher. */
interface Shown {
  readonly element: HTMLElement;
  readonly row: LogRow | null;
  readonly isDay: boolean;
}

/** Keeps the lines of a box. `linkTo` is the address of one run's log. */
export function createLogView(box: HTMLElement, linkTo: (instance: string) => string): LogView {
  let shown: Shown[] = [];
  const headings = createLogHeadings(linkTo);
  const calls = createRunningCalls();
  let level = 0;
  let text = "";
  let isRaw = false;

  const isVisible = (row: LogRow): boolean =>
    row.level >= level && (text === "" || row.text().toLowerCase().includes(text));
  const isFiltered = (): boolean => level > 10 || text !== "";
  const append = (entry: LogEntry): Shown[] => {
    if (calls.join(entry)) return [];
    const row = createLogRow(entry);
    calls.added(entry, row);
    row.setRaw(isRaw);
    row.reveal(text);
    if (isFiltered()) row.element.hidden = !isVisible(row);
    return [
      ...headings.above(entry).map((heading) => ({ ...heading, row: null })),
      { element: row.element, row, isDay: false },
    ];
  };
  /** A heading over nothing is hidden as well. */
  const showHeadings = (): void => {
    let hasRunLines = false;
    let hasDayLines = false;
    for (const { element, row, isDay } of shown.toReversed()) {
      if (row !== null) {
        hasRunLines ||= !row.element.hidden;
        hasDayLines ||= !row.element.hidden;
        continue;
      }
      element.hidden = !(isDay ? hasDayLines : hasRunLines);
      hasRunLines = false;
      if (isDay) hasDayLines = false;
    }
  };

  return {
    add: (entries) => {
      const added = entries.flatMap(append);
      shown.push(...added);
      const fragment = document.createDocumentFragment();
      fragment.append(...added.slice(-maxElements).map(({ element }) => element));
      box.append(fragment);
      const surplus = shown.length - maxElements;
      if (surplus > 0) for (const { element } of shown.splice(0, surplus)) element.remove();
      if (isFiltered()) showHeadings();
    },
    clear: () => {
      shown = [];
      headings.startAnew();
      calls.clear();
      box.replaceChildren();
    },
    filter: (newLevel, newText) => {
      level = newLevel;
      text = newText.trim().toLowerCase();
      for (const { row } of shown) {
        row?.reveal(text);
        if (row !== null) row.element.hidden = !isVisible(row);
      }
      showHeadings();
    },
    setRaw: (raw) => {
      isRaw = raw;
      for (const { row } of shown) row?.setRaw(raw);
    },
    count: () => shown.filter(({ row }) => row !== null).length,
    hiddenCount: () => shown.filter(({ row }) => row?.element.hidden === true).length,
  };
}
