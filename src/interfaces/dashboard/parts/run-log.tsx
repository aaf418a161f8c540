import { useMemo } from "preact/hooks";
import type { FirstPart } from "../live/log-session.ts";
import { useFollow, useLog } from "../live/use-log.ts";
import { lineAddress, logAddress } from "../text/addresses.ts";
import type { LogChoice } from "../text/log-choice.ts";
import { LogLines } from "./log-lines.tsx";
import { Failed, Panel } from "./panel.tsx";

interface RunLogProps {
  readonly agent: string;
  readonly instanceId: string;
  /** Whether the run has ended. */
  readonly isOver: boolean;
  /** Its last lines; null if finding them takes longer. */
  readonly first: FirstPart | null;
}

/** The last lines; the log page has all. */
export const shownLines = 200;

/** The part of a log that a run's page shows. */
export function runChoice(instance: string): LogChoice {
  return { instance, q: "", level: "", at: "" };
}

/** The last lines of a run's log, and new ones while it runs. */
export function RunLog({ agent, instanceId, isOver, first }: RunLogProps) {
  const choice = useMemo(() => runChoice(instanceId), []);
  const links = useMemo(
    () => ({
      run: (id: string) => logAddress(agent, id),
      line: (position: string) => lineAddress(agent, position, instanceId),
    }),
    [],
  );
  const log = useLog(agent, choice, { first, pageLines: shownLines });
  const { lines, isReading, failure } = log;
  const { box, onScroll } = useFollow();
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
        ref={box}
        onScroll={onScroll}
      >
        <LogLines lines={lines} links={links} isRaw={false} sought="" marked="" />
      </div>
    </Panel>
  );
}
