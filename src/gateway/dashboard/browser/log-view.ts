import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { create, document } from "./dom.ts";
import type { PageElement } from "./dom.ts";
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

/** A line of the log, or a heading that says of which run the next lines are. */
interface Shown {
  readonly element: PageElement;
  readonly row: LogRow | null;
}

/** Keeps the lines of a box. `linkTo` is the address of one run's log. */
export function createLogView(box: PageElement, linkTo: (instance: string) => string): LogView {
  let shown: Shown[] = [];
  let instance = "";
  let level = 0;
  let text = "";
  let isRaw = false;

  const isVisible = (row: LogRow): boolean =>
    row.level >= level && (text === "" || row.text().toLowerCase().includes(text));
  const isFiltered = (): boolean => level > 10 || text !== "";
  const append = (entry: LogEntry): Shown[] => {
    const row = createLogRow(entry);
    row.setRaw(isRaw);
    if (isFiltered()) row.element.hidden = !isVisible(row);
    const line = { element: row.element, row };
    if (entry.instanceId === undefined || entry.instanceId === instance) return [line];
    instance = entry.instanceId;
    return [{ element: runHeading(instance, linkTo(instance)), row: null }, line];
  };
  /** A heading over nothing is hidden as well. */
  const showHeadings = (): void => {
    let hasLines = false;
    for (const { element, row } of shown.toReversed()) {
      if (row === null) {
        element.hidden = !hasLines;
        hasLines = false;
      } else if (!row.element.hidden) {
        hasLines = true;
      }
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
      instance = "";
      box.replaceChildren();
    },
    filter: (newLevel, newText) => {
      level = newLevel;
      text = newText.trim().toLowerCase();
      for (const { row } of shown) if (row !== null) row.element.hidden = !isVisible(row);
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

function runHeading(instance: string, address: string): PageElement {
  const element = create("div", "run-heading");
  const link = create("a", "", instance);
  link.href = address;
  link.title = "Only this run";
  element.append(link);
  return element;
}
