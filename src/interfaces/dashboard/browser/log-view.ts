import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { createRunningCalls } from "./log-calls.ts";
import type { RunningCalls } from "./log-calls.ts";
import { createLogHeadings } from "./log-headings.ts";
import type { LogHeadings } from "./log-headings.ts";
import { createLogHighlight } from "./log-highlight.ts";
import { createLogRow } from "./log-row.ts";
import type { LogRow } from "./log-row.ts";

/** A line as the log has it: `position` is the place after it. */
export interface PlacedEntry {
  readonly position: string;
  readonly entry: LogEntry;
}

/** The lines that the page shows. Where they are too many, those at the other end go. */
export interface LogView {
  /** Shows lines below the others; the position before the first one that is left, when some went. */
  add(lines: readonly PlacedEntry[]): string | null;
  /** Shows lines above the others; the position of the last one that is left, when some went. */
  prepend(lines: readonly PlacedEntry[]): string | null;
  clear(): void;
  /** Unfolds the output that has this text. */
  reveal(text: string): void;
  setRaw(isRaw: boolean): void;
  readonly count: () => number;
  /** The element of a line. */
  readonly find: (position: string) => HTMLElement | null;
}

/** Where headings and lines lead. */
export interface LogLinks {
  /** The log of one run. */
  readonly run: (instance: string) => string;
  /** The log around one line. */
  readonly line: (position: string) => string;
}

/** Lines and headings that the page holds. */
const maxElements = 5_000;

interface Line extends PlacedEntry {
  readonly element: HTMLElement;
  readonly row: LogRow;
}

/** A line, or a heading: of all lines up to the next one that is as high or higher. */
type Shown = Line | { readonly element: HTMLElement; readonly row: null };

/** What lines next to each other have in common. */
interface Neighbours {
  readonly headings: LogHeadings;
  readonly calls: RunningCalls;
}

/** Keeps the lines of a box. */
export function createLogView(box: HTMLElement, links: LogLinks): LogView {
  let shown: Shown[] = [];
  let revealed = "";
  let isRaw = false;
  const createNeighbours = (): Neighbours => ({
    headings: createLogHeadings(links.run),
    calls: createRunningCalls(),
  });
  let below = createNeighbours();
  const highlight = createLogHighlight();
  const remove = ({ element }: Shown): void => {
    highlight.forget(element);
    element.remove();
  };

  const headed = (neighbours: Neighbours, line: Line): Shown[] => {
    const { headings, hasSameTime } = neighbours.headings.above(line.entry);
    line.element.classList.toggle("same-time", hasSameTime);
    return [...headings.map((element) => ({ element, row: null })), line];
  };
  const append = (neighbours: Neighbours, { position, entry }: PlacedEntry): Shown[] => {
    if (neighbours.calls.join(entry)) return [];
    const row = createLogRow(entry, links.line(position));
    neighbours.calls.added(entry, row);
    row.setRaw(isRaw);
    row.reveal(revealed);
    highlight.mark(row.element);
    return headed(neighbours, { position, entry, row, element: row.element });
  };
  /** Removes the last ones beyond the limit; the position of the last line that is left. */
  const cutEnd = (): string | null => {
    shown.splice(maxElements).forEach(remove);
    const last = lastLine(shown);
    below.calls.clear();
    below = createNeighbours();
    if (last !== undefined) below.headings.above(last.entry);
    return last?.position ?? null;
  };

  return {
    add: (lines) => {
      const added = lines.flatMap((line) => append(below, line));
      shown.push(...added);
      box.append(fragmentOf(added.slice(-maxElements)));
      const gone = shown.splice(0, Math.max(0, shown.length - maxElements));
      gone.forEach(remove);
      return lastLine(gone)?.position ?? null;
    },
    prepend: (lines) => {
      // Whether the first line needs a heading depends on the line that is above it now.
      const first = shown.findIndex(isLine);
      shown.splice(0, Math.max(0, first)).forEach(remove);
      const above = createNeighbours();
      const added = lines.flatMap((line) => append(above, line));
      above.calls.clear();
      const next = shown.find(isLine);
      if (next !== undefined) added.push(...headed(above, next).slice(0, -1));
      shown.unshift(...added);
      box.prepend(fragmentOf(added));
      return shown.length > maxElements ? cutEnd() : null;
    },
    clear: () => {
      shown.forEach(remove);
      shown = [];
      below.calls.clear();
      below = createNeighbours();
    },
    reveal: (text) => {
      revealed = text.trim().toLowerCase();
      highlight.setText(revealed);
      for (const { row } of shown) row?.reveal(revealed);
    },
    setRaw: (raw) => {
      isRaw = raw;
      for (const { row } of shown) row?.setRaw(raw);
    },
    count: () => shown.filter(isLine).length,
    find: (position) =>
      shown.find((one) => isLine(one) && one.position === position)?.element ?? null,
  };
}

function isLine(shown: Shown): shown is Line {
  return shown.row !== null;
}

function lastLine(shown: readonly Shown[]): Line | undefined {
  return shown.findLast(isLine);
}

function fragmentOf(shown: readonly Shown[]): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(...shown.map(({ element }) => element));
  return fragment;
}
