import { useEffect } from "preact/hooks";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import type { AgentAnswer } from "../../../../foundation/contracts/operator-api.ts";
import type { UpcomingRun } from "../../../../foundation/contracts/upcoming-run.ts";
import { leftOutText } from "../../../../foundation/contracts/format.ts";
import { useIsLocal, useTicking } from "../../live/clock.ts";
import { dayTime, joined, ownTimeZone } from "../../text/format.ts";
import { FactList, Panel } from "../../kit/panel.tsx";
import { useScheduler, type Frame } from "../../kit/site.tsx";
import { Time } from "../../kit/time.tsx";

interface DetailProps {
  /** Null if it could not be read. */
  readonly detail: AgentAnswer | null;
}

interface NextRunsProps extends DetailProps {
  readonly agent: AgentStatus | null;
  readonly frame: Frame;
  /** Called when the first tick is past: the list moves on, also while the agent is disabled and emits nothing. */
  readonly onTick: () => void;
}

/** The panel with the schedule of an agent and its next ticks. */
export function NextRuns({ agent, frame, detail, onTick }: NextRunsProps) {
  const { paused } = useScheduler(frame);
  const note = tickNote(agent?.enabled ?? true, paused);
  const ticks = detail?.next ?? [];
  const isPast = useTicking((now) => now > Date.parse(ticks[0]?.at ?? ""));
  useEffect(() => {
    if (isPast) onTick();
  }, [isPast]);
  const isLocal = useIsLocal();
  // A schedule has its own time zone; the list is in the reader's.
  const differs = ticks.some(({ at, timezone }) => dayTime(at) !== dayTime(at, timezone));
  return (
    <Panel id="next" title="Next runs">
      <p id="schedule-text">{detail !== null && whenText(detail)}</p>
      <Upcoming id="ticks" runs={ticks} isHeld={note !== ""} />
      <p class="muted note" id="ticks-zone" hidden={!isLocal || !differs}>
        Listed in your own time zone, {ownTimeZone()}.
      </p>
      <p class="muted note" id="ticks-note" hidden={note === ""}>
        {note}
      </p>
    </Panel>
  );
}

interface UpcomingProps {
  readonly id: string;
  readonly runs: readonly UpcomingRun[];
  readonly isHeld?: boolean;
}

/** Scheduled runs in order, with those that calendars leave out. */
export function Upcoming({ id, runs, isHeld = false }: UpcomingProps) {
  return (
    <ol class={`ticks ${isHeld ? "held" : ""}`} id={id}>
      {runs.map(({ at, schedule, leftOut }) => (
        <li key={`${schedule} ${at}`} class={leftOut === null ? "" : "left-out"}>
          <Time at={at} side="future" />
          <span class="muted">
            {joined(
              [
                dayTime(at),
                schedule,
                leftOut !== null && `left out: ${leftOutText(leftOut, dayTime(leftOut.until))}`,
              ],
              " · ",
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Why nothing starts at the ticks; empty if something does. */
function tickNote(isEnabled: boolean, isPaused: boolean): string {
  if (!isEnabled) return "The agent is disabled: nothing starts it.";
  return isPaused ? "The scheduler is paused: scheduled runs are skipped." : "";
}

function whenText({ config, scheduleText }: AgentAnswer): string {
  if (config === null) return "No runs scheduled: the config is invalid.";
  const schedule = scheduleText ?? config.schedule;
  const sources = [...new Set(config.webhooks.map(({ source }) => source))];
  const parts = [
    schedule !== null && `${schedule} (${config.timezone})`,
    ...config.schedules.map(
      ({ name, expression, timezone }) => `${name}: ${expression} (${timezone})`,
    ),
    sources.length > 0 && `On webhooks of ${sources.join(", ")}`,
  ];
  return `${joined(parts, ". ") || "Runs only when called by another agent or started manually"}.`;
}

/** The panel with the active config of an agent. */
export function Config({ detail }: DetailProps) {
  return (
    <Panel id="config" title="Active configuration">
      {detail?.config === null ? (
        <p class="muted note">No valid configuration yet.</p>
      ) : (
        <FactList
          id="config-facts"
          facts={detail?.facts.map(({ label, values }) => [label, ...values] as const) ?? []}
        />
      )}
    </Panel>
  );
}
