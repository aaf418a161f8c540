/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import type { AgentAnswer } from "../../../foundation/contracts/operator-api.ts";
import { useIsLocal, useTicking } from "../live/clock.ts";
import { dayTime, ownTimeZone } from "../text/format.ts";
import { Markdown } from "./markdown.tsx";
import { FactList, Panel } from "./panel.tsx";
import { Time } from "./time.tsx";

interface DetailProps {
  /** Null if it could not be read. */
  readonly detail: AgentAnswer | null;
}

interface NextRunsProps extends DetailProps {
  /** Why nothing starts at the ticks; empty if something does. */
  readonly note: string;
  /** Called when the first tick is past: the list moves on, also while the agent is disabled and emits nothing. */
  readonly onTick: () => void;
}

/** The panel with the schedule of an agent and its next ticks. */
export function NextRuns({ detail, note, onTick }: NextRunsProps) {
  const ticks = detail?.nextTicks ?? [];
  const isPast = useTicking((now) => now > Date.parse(ticks[0] ?? ""));
  useEffect(() => {
    if (isPast) onTick();
  }, [isPast]);
  const isLocal = useIsLocal();
  // A schedule has its own time zone; the list is in the reader's.
  const differs = ticks
    .map((tick) => Date.parse(tick))
    .some((at) => dayTime(at) !== dayTime(at, detail?.config?.timezone));
  return (
    <Panel id="next" title="Next runs">
      <p id="schedule-text">{detail !== null && whenText(detail)}</p>
      <ol class={`ticks ${note === "" ? "" : "held"}`} id="ticks">
        {ticks.map((tick) => (
          <li key={tick}>
            <Time at={tick} side="future" />
            <span class="muted">{dayTime(Date.parse(tick))}</span>
          </li>
        ))}
      </ol>
      <p class="muted note" id="ticks-zone" hidden={!isLocal || !differs}>
        Listed in your own time zone, {ownTimeZone()}.
      </p>
      <p class="muted note" id="ticks-note" hidden={note === ""}>
        {note}
      </p>
    </Panel>
  );
}

function whenText({ config, scheduleText }: AgentAnswer): string {
  if (config === null) return "No runs scheduled: the config is invalid.";
  const schedule = scheduleText ?? config.schedule;
  const sources = [...new Set(config.webhooks.map(({ source }) => source))];
  const parts = [
    ...(schedule === null ? [] : [`${schedule} (${config.timezone})`]),
    ...(sources.length === 0 ? [] : [`On webhooks of ${sources.join(", ")}`]),
  ];
  return parts.length === 0
    ? "Runs only when called by another agent or started manually."
    : `${parts.join(". ")}.`;
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

/** The panel with the instructions of an agent, rendered or as they are written. */
export function Instructions({ detail }: DetailProps) {
  const [isRaw, setRaw] = useState(false);
  const config = detail?.config ?? null;
  const asWritten = config !== null && (
    <button type="button" class="link after" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
      As written
    </button>
  );
  return (
    <Panel id="instructions" title="Instructions" after={asWritten}>
      {detail !== null && config === null && (
        <p class="muted note">They are shown when the agent has a valid config.</p>
      )}
      {config !== null && isRaw && (
        <pre id="instructions-raw" tabIndex={0}>
          {config.instructions}
        </pre>
      )}
      {config !== null && !isRaw && (
        <Markdown text={config.instructions} class="instructions" isOutlined />
      )}
    </Panel>
  );
}
