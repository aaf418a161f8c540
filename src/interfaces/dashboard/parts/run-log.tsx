/** @jsxImportSource preact */
import { useEffect, useMemo } from "preact/hooks";
import { useFollow, useLog } from "../live/use-log.ts";
import { lineAddress, logAddress } from "../text/addresses.ts";
import { LogLines } from "./log-lines.tsx";
import { Panel } from "./panel.tsx";

interface RunLogProps {
  readonly agent: string;
  readonly instanceId: string;
  /** Whether the run has ended. */
  readonly isOver: boolean;
}

/** The last lines; the log page has all. */
const shownLines = 200;
/** The last lines may come later than the end of their run; then the page gives its connection back. */
const lastLinesMs = 15_000;

/** The last lines of a run's log, and new ones while it runs. */
export function RunLog({ agent, instanceId, isOver }: RunLogProps) {
  const choice = useMemo(() => ({ instance: instanceId, q: "", level: "", at: "" }), []);
  const links = useMemo(
    () => ({
      run: (id: string) => logAddress(agent, id),
      line: (position: string) => lineAddress(agent, position, instanceId),
    }),
    [],
  );
  const { lines, isReading, session } = useLog(agent, choice, { pageLines: shownLines });
  const { box, onScroll } = useFollow();
  useEffect(() => {
    if (!isOver) return undefined;
    const timer = setTimeout(() => session.current?.stop(), lastLinesMs);
    return () => clearTimeout(timer);
  }, [isOver]);
  const none = isOver
    ? "No lines: it logged nothing, or its log is no longer kept."
    : "No lines yet.";
  return (
    <Panel
      id="log-part"
      title="Log"
      class="run-log-panel"
      after={
        <span class="muted" id="log-note">
          {lines.length >= shownLines && `From the last ${shownLines} lines on.`}
        </span>
      }
    >
      <p class="muted" id="log-empty" role="status" hidden={lines.length > 0}>
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
        ref={box}
        onScroll={onScroll}
      >
        <LogLines lines={lines} links={links} isRaw={false} sought="" marked="" />
      </div>
    </Panel>
  );
}
