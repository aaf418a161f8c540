import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { AgentStatus, SchedulerStatus } from "../../../../streams/status/wire.ts";
import { agentColumns, disabledText } from "../../../contracts/agent-columns.ts";
import type { AgentColumn } from "../../../contracts/agent-columns.ts";
import { outcomeText } from "../../../contracts/format.ts";
import { plainText } from "../../../contracts/plain-text.ts";
import { refusalsOf, ToggleButton, triggerRun } from "./agent-buttons.tsx";
import { Button } from "./buttons.tsx";
import { exactTime } from "./format.ts";
import { agentAddress } from "./addresses.ts";
import { useNow } from "./time.tsx";

/** Why no cron tick comes. */
export type PauseState = Pick<SchedulerStatus, "paused" | "draining">;

interface CellProps {
  readonly agent: AgentStatus;
  readonly scheduler: PauseState;
}

const columns = agentColumns.filter(({ isLiveOnly }) => isLiveOnly !== true);

/** One agent's row of the overview. It is rendered again only when the agent or the scheduler's pause changed. */
export function AgentRow(props: CellProps & { readonly isHidden: boolean }) {
  const { agent, scheduler, isHidden } = props;
  return useMemo(
    () => (
      <tr data-agent={agent.name} role="row" hidden={isHidden}>
        {columns.map((column) => (
          <Cell key={column.title} label={column.title}>
            {contentOf(column, { agent, scheduler })}
          </Cell>
        ))}
        <Cell label="Actions">
          <RowActions agent={agent} />
        </Cell>
      </tr>
    ),
    [agent, scheduler, isHidden],
  );
}

/** On a narrow screen the rows are cards, and each cell shows its label. */
function Cell({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  const isHeader = label === "Agent";
  const Tag = isHeader ? "th" : "td";
  return (
    <Tag
      class={label.toLowerCase().replace(" ", "-")}
      data-label={label}
      role={isHeader ? "rowheader" : "cell"}
    >
      <div class="cell">{children}</div>
    </Tag>
  );
}

function contentOf(column: AgentColumn, props: CellProps) {
  switch (column.title) {
    case "Agent":
      return nameContent(props.agent);
    case "State":
      return stateContent(props.agent);
    case "Status":
      return statusContent(column, props.agent);
    case "Last Run":
      return (
        <>
          <Value column={column} {...props} />
          {lastOutcome(props.agent)}
        </>
      );
    default:
      return <Value column={column} {...props} />;
  }
}

/** The column's own text, as it is at each second. */
function Value({ column, agent, scheduler }: CellProps & { readonly column: AgentColumn }) {
  const { side, value, emptyText } = column;
  const { paused, draining } = scheduler;
  const { text, at = null } = value(agent, { now: useNow(), paused, draining });
  const shown = text === "" ? emptyText : plainText(text);
  if (side === undefined) return <span>{shown}</span>;
  const classes = [side === "future" && "live-fact", at === null && "muted"];
  return (
    <time
      class={classes.filter(Boolean).join(" ")}
      dateTime={at ?? undefined}
      title={at === null ? undefined : exactTime(Date.parse(at))}
    >
      {shown}
    </time>
  );
}

function nameContent({ name, title, triggers }: AgentStatus) {
  // A cron expression stays on one line.
  const labels = triggers.map((label) => label.replaceAll(" ", "\u00a0"));
  return (
    <>
      <a class="agent-name" href={`${agentAddress(name)}/logs`}>
        {name}
      </a>
      <a class="agent-details" href={agentAddress(name)} aria-label={`Details of ${name}`}>
        details
      </a>
      <div class="sub">{[...(title === name ? [] : [title]), ...labels].join(" · ")}</div>
    </>
  );
}

function stateContent(agent: AgentStatus) {
  const { state, running, scale, queued } = agent;
  const disabled = disabledText(agent);
  const load = [
    ...(running > 1 || (running > 0 && scale > 1) ? [`${running} of ${scale} running`] : []),
    ...(queued > 0 ? [`${queued} queued`] : []),
  ];
  return (
    <>
      <span class={`pill ${state}`}>{state}</span>{" "}
      {disabled !== null && <span class="pill off">{disabled}</span>}
      <div class="sub">{load.join(" · ")}</div>
    </>
  );
}

/** A warning stands below a status: it stops no run. */
function statusContent({ emptyText }: AgentColumn, { error, statusText, warning }: AgentStatus) {
  const text = error ?? statusText;
  const look = error !== null ? " failing" : text === null ? " muted" : "";
  return (
    <>
      {(text !== null || warning === null) && (
        <div class={`status-text${look}`} title={text === null ? undefined : plainText(text)}>
          {text === null ? emptyText : plainText(text)}
        </div>
      )}
      {warning !== null && (
        <div class="status-text warning" title={plainText(warning)}>
          {plainText(warning)}
        </div>
      )}
    </>
  );
}

function lastOutcome({ running, lastOutcome: outcome }: AgentStatus) {
  // While a run is running, it is the last run: the outcome of the one before would be taken for its own.
  const ended = running > 0 ? "" : (outcome ?? "");
  return <div class={`sub outcome ${ended}`}>{outcomeText(ended)}</div>;
}

function RowActions({ agent }: { readonly agent: AgentStatus }) {
  const { name } = agent;
  const refusals = refusalsOf(agent);
  return (
    <div class="actions-group">
      <Button
        class="button acts"
        label={`Run ${name}`}
        whyNot={refusals.run}
        onPress={() => triggerRun(name)}
      >
        Run
      </Button>
      <ToggleButton agent={agent} whyNot={refusals.toggle} label={name} />
    </div>
  );
}
