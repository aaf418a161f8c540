import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LogChoice } from "../../kit/list-view.ts";
import { Failed, Panel } from "../../kit/panel.tsx";
import { PromptChars } from "../../log/log-contents.tsx";
import { LogLines } from "../../log/log-lines.tsx";
import type { FirstPart } from "../../log/log-session.ts";
import { useFollow, useLog } from "../../log/use-log.ts";
import { lineAddress, logAddress } from "../../text/addresses.ts";

/** The last lines; the log page has all. */
export const shownLines = 200;

/** The part of a log that a run's page shows: the last lines, or those around a position. */
export function runChoice(instance: string, at = ""): LogChoice {
  return { instance, q: "", level: "", at };
}

interface RunLogOptions {
  readonly agent: string;
  readonly instanceId: string;
  /** The lines that the page was rendered with; null if finding them takes longer. */
  readonly first: FirstPart | null;
  /** The position of the line that is shown first; "" for the last lines. */
  readonly opened: string;
}

/** The log of a run: its last lines, and new ones while it runs; or the lines around an opened one. */
export function useRunLog({ agent, instanceId, first, opened }: RunLogOptions) {
  const [marked, setMarked] = useState(opened);
  // Lines around another one have no end that is followed.
  const [around, setAround] = useState(first?.atEnd === false ? opened : "");
  const choice = useMemo(() => runChoice(instanceId, around), [around]);
  const log = useLog(agent, choice, { first, pageLines: shownLines });
  const follow = useFollow();
  const { box } = follow;
  const shown = useRef("");
  const isThere = log.lines.some(({ position }) => position === marked);
  useLayoutEffect(() => {
    const line = box.current?.querySelector(".line.marked") ?? null;
    if (!isThere || shown.current === marked || box.current === null || line === null) return;
    shown.current = marked;
    follow.set(false);
    const { top } = box.current.getBoundingClientRect();
    box.current.scrollTop += line.getBoundingClientRect().top - top - roomAbove;
  }, [marked, isThere]);
  return {
    ...log,
    follow,
    marked,
    isAround: around !== "",
    /** Shows the line at a position; "" for the last lines. */
    open: (position: string): void => {
      shown.current = "";
      if (position === "") follow.set(true);
      setMarked(position);
      if (position === "" || !log.lines.some((line) => line.position === position))
        setAround(position);
      box.current?.scrollIntoView({ block: "nearest" });
    },
  };
}

/** Above an opened line its cause is to be seen, in px. */
const roomAbove = 60;

interface RunLogProps {
  readonly agent: string;
  readonly instanceId: string;
  /** Whether the run has ended. */
  readonly isOver: boolean;
  readonly log: ReturnType<typeof useRunLog>;
  readonly class: string;
}

/** The lines of a run's log. */
export function RunLog({ agent, instanceId, isOver, log, ...look }: RunLogProps) {
  const links = useMemo(
    () => ({
      run: (id: string) => logAddress(agent, id),
      line: (position: string) => lineAddress(agent, position, instanceId),
    }),
    [],
  );
  const { lines, isReading, failure, marked, isAround, follow } = log;
  const none = isOver
    ? "No lines: it logged nothing, or its log is no longer kept."
    : "No lines yet.";
  return (
    <Panel
      id="log-part"
      title="Log"
      class={`run-log-panel ${look.class}`}
      after={
        <span class="muted" id="log-note">
          {isAround ? (
            <button class="link" type="button" onClick={() => log.open("")}>
              Last lines
            </button>
          ) : (
            lines.length >= shownLines && `The last ${shownLines} lines.`
          )}
        </span>
      }
    >
      <Failed failure={failure} retry={log.retry} />
      <p class="muted" id="log-empty" role="status" hidden={lines.length > 0 || failure !== ""}>
        {isReading ? "Reading the log …" : none}
      </p>
      <div
        id="log"
        class="run-lines"
        role="log"
        aria-live="off"
        aria-label={`Log of ${instanceId}`}
        tabIndex={0}
        hidden={lines.length === 0}
        ref={follow.box}
        onScroll={follow.onScroll}
      >
        <PromptChars.Provider value={4_000}>
          <LogLines lines={lines} links={links} isRaw={false} sought="" marked={marked} />
        </PromptChars.Provider>
      </div>
    </Panel>
  );
}
