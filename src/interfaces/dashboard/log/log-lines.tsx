import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { kindOf } from "../../../foundation/contracts/log-kinds.ts";
import { useIsLocal } from "../live/clock.ts";
import { clockTime, dayText, exactTime, joined, levelName } from "../text/format.ts";
import { chunksOf, rowsOf, type LogChunk, type LogLine, type LogRow } from "./log-rows.ts";
import { contents, LiveOutput, PlainLine, Sought } from "./log-contents.tsx";
import { memo } from "../kit/memo.ts";
import { RunLink } from "../runs/run-parts.tsx";

interface Look {
  /** Addresses of the log of one run, and of the log around one line, which never change. */
  readonly links: {
    readonly run: (instance: string) => string;
    readonly line: (position: string) => string;
  };
  /** Shows each entry as it was written, below its text. */
  readonly isRaw: boolean;
  /** Marked text, lower case. */
  readonly sought: string;
  /** Position of the line in the address. */
  readonly marked: string;
  /** Whether attributes may have the browser's time. */
  readonly isLocal: boolean;
}

interface LogLinesProps extends Omit<Look, "isLocal"> {
  readonly lines: readonly LogLine[];
}

/** The lines of a log. A line is rendered again only if it, or its place among its neighbours, changed. */
export function LogLines({ lines, ...look }: LogLinesProps) {
  const known = useRef<readonly LogChunk[]>([]);
  const chunks = useMemo(() => chunksOf(rowsOf(lines, Date.now()), known.current), [lines]);
  known.current = chunks;
  const isLocal = useIsLocal();
  return (
    <Sought.Provider value={look.sought}>
      <div id="log-lines" onCopy={copyLines}>
        {chunks.map(({ id, rows }) => (
          <Chunk rows={rows} key={id} {...look} isLocal={isLocal} />
        ))}
      </div>
    </Sought.Provider>
  );
}

const Chunk = memo(({ rows, ...look }: Look & Pick<LogChunk, "rows">) => {
  return (
    <>
      {rows.map((row) => (
        <Line row={row} key={row.line.seq} {...look} />
      ))}
    </>
  );
}, Object.is);

interface LineProps extends Look {
  readonly row: LogRow;
}

const Line = memo(({ row, links, isRaw, sought, marked, isLocal }: LineProps) => {
  const { line, entries, hasSameTime } = row;
  const { entry, position } = line;
  const level = levelName(entry.level);
  const content = useRef<HTMLDivElement>(null);
  const [isShownRaw, setShownRaw] = useState(isRaw);
  useLayoutEffect(() => setShownRaw(isRaw), [isRaw]);
  useHighlight(content, sought);
  const kind = kindOf(entry) ?? "plain";
  const isMarked = position === marked;
  const classes = ["line", level, `kind-${kind}`, hasSameTime && "same-time", isMarked && "marked"];
  return (
    <>
      <Headings row={row} links={links} />
      <div class={joined(classes, " ")} aria-current={isMarked ? "true" : undefined}>
        <button
          class="at"
          type="button"
          // Thousands of stops would make the page unusable by keyboard; there the button for all lines does it.
          tabIndex={-1}
          aria-expanded={isShownRaw}
          title={isLocal ? `${exactTime(entry.time)}: show the entry as it was written` : undefined}
          onClick={() => setShownRaw(!isShownRaw)}
        >
          {clockTime(entry.time)}
        </button>
        <span class="level">{level.toUpperCase()}</span>
        <div class="content" ref={content}>
          <Content row={row} />
          {isShownRaw && (
            <pre class="raw-entry">
              {entries.map((one) => JSON.stringify(one, null, 2)).join("\n")}
            </pre>
          )}
        </div>
        <a
          class="line-link"
          href={links.line(position)}
          tabIndex={-1}
          aria-label="This line"
          title="Link to this line"
        >
          #
        </a>
      </div>
    </>
  );
}, Object.is);

function Content({ row }: { readonly row: LogRow }): ComponentChildren {
  const { entry } = row.line;
  const kind = kindOf(entry);
  if (kind === "tool-output") return <LiveOutput entries={row.entries} isOpen={row.isOpen} />;
  const Shown = kind === null ? PlainLine : contents[kind];
  return <Shown entry={entry} />;
}

/** Lines show only the time of day: their day, if it is not today, and their run are above the first of them. */
function Headings({ row, links }: { readonly row: LogRow } & Pick<Look, "links">) {
  const { time, agent, instanceId } = row.line.entry;
  return (
    <>
      {/* Not a div: where the server's days are others, hydration would take it for a line. */}
      {row.beginsDay && <p class="day-heading">{dayText(time)}</p>}
      {row.beginsRun && instanceId !== undefined && (
        <div class="run-heading">
          <a href={links.run(instanceId)} title="Only this run">
            {instanceId}
          </a>
          <RunLink agent={agent} instanceId={instanceId} text="run" />
        </div>
      )}
    </>
  );
}

/** Copies several lines as lines of text; a browser alone breaks each after its time and its level. */
function copyLines(event: ClipboardEvent & { readonly currentTarget: HTMLElement }): void {
  const selection = getSelection();
  if (selection === null || selection.rangeCount === 0) return;
  const range = selection.getRangeAt(0);
  const lines = childrenOf(event.currentTarget).filter(
    (line) => !line.hidden && selection.containsNode(line, true) && reaches(range, line),
  );
  if (lines.length < 2) return;
  event.clipboardData?.setData("text/plain", lines.map((line) => lineText(line)).join("\n"));
  event.preventDefault();
}

/** A click that selects one line ends before the first character of the next. */
function reaches(range: Range, line: HTMLElement): boolean {
  if (!line.contains(range.endContainer)) return true;
  const part = document.createRange();
  part.setStart(line, 0);
  part.setEnd(range.endContainer, range.endOffset);
  return String(part) !== "";
}

function lineText(line: HTMLElement): string {
  const [at, level, content] = childrenOf(line);
  if (at === undefined || level === undefined || content === undefined) return line.innerText;
  return `${at.innerText} ${level.innerText.padEnd(5)} ${content.innerText.trim()}`;
}

function childrenOf(element: HTMLElement): readonly HTMLElement[] {
  return [...element.children].filter((child) => child instanceof HTMLElement);
}

/** Most matches that are marked in one element: one letter may match thousands of times in a long output. */
const maxMarks = 200;

/** Marks a text, lower case, wherever an element has it; "" marks nothing. Copied text is unaffected. */
function useHighlight(place: RefObject<HTMLElement | null>, wanted: string): void {
  useLayoutEffect(() => {
    if (wanted === "" || place.current === null) return undefined;
    const marks = CSS.highlights.get("match") ?? new Highlight();
    CSS.highlights.set("match", marks);
    const ranges = rangesOf(place.current, wanted);
    for (const range of ranges) marks.add(range);
    return () => {
      for (const range of ranges) marks.delete(range);
    };
  }, [wanted]);
}

function rangesOf(element: Element, wanted: string): readonly StaticRange[] {
  const found: StaticRange[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    // A few letters change their length with their case: positions in such a text are unknown.
    if (text.length !== node.nodeValue?.length) continue;
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      if (found.length === maxMarks) return found;
      const [startOffset, endOffset] = [at, at + wanted.length];
      found.push(
        new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset }),
      );
    }
  }
  return found;
}
