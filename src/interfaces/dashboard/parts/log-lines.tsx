import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { kindOf } from "../../../foundation/contracts/log-kinds.ts";
import { useIsLocal } from "../live/clock.ts";
import { copyLines } from "../live/copy-lines.ts";
import { useHighlight } from "../live/highlight.ts";
import { clockTime, dayText, exactTime, levelName } from "../text/format.ts";
import { chunksOf, rowsOf } from "../text/log-lines.ts";
import type { LogChunk, LogLine, LogRow } from "../text/log-lines.ts";
import { contents, LiveOutput, PlainLine, Sought } from "./log-contents.tsx";
import { memo } from "./memo.ts";
import { RunLink } from "./run-parts.tsx";

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
      <div class={classes.filter(Boolean).join(" ")} aria-current={isMarked ? "true" : undefined}>
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
