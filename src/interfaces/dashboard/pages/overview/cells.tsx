import { outcomeText, toneOf } from "../../../../../streams/outcomes.ts";
import type { ComponentChildren } from "preact";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { usedBudgetText } from "../../../../features/spend/spend-text.ts";
import { shownRuns, counted } from "../../../../foundation/contracts/format.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import {
  causeFirst,
  disabledText,
  errorToShow,
  isBlocked,
  runningCostText,
  stateText,
} from "../../../views/agent-columns.ts";
import type { AgentColumn } from "../../../views/agent-columns.ts";
import { useIsLocal, useTicking } from "../../live/clock.ts";
import { agentAddress, logAddress, questionsAddress, runAddress } from "../../text/addresses.ts";
import { exactTime, joined } from "../../text/format.ts";
import { Linked } from "../../kit/linked.tsx";
import type { LatestRuns } from "../../../../foundation/contracts/history.ts";

/** An agent as its row shows it. */
export interface ShownAgent {
  readonly agent: AgentStatus;
  /** A scheduler that is paused or stops has no next runs. */
  readonly isPaused: boolean;
  readonly isDraining: boolean;
  readonly runs: Runs | undefined;
}

interface ContentProps extends ShownAgent {
  readonly column: AgentColumn;
}

/** The text of a column, which may change with the time alone. */
export function Value({ agent, column, isPaused, isDraining }: ContentProps) {
  const { side, emptyText } = column;
  const isLocal = useIsLocal();
  const valueAt = (now: number) =>
    column.value(agent, { now, paused: isPaused, draining: isDraining });
  const text = useTicking((now) => valueAt(now).text);
  const shown = text === "" ? emptyText : plainText(text);
  if (side === undefined) return <span>{shown}</span>;
  const { at = null } = valueAt(Date.now());
  return (
    <time
      class={joined([side === "future" && "live-fact", at === null && "muted"], " ")}
      dateTime={at ?? undefined}
      title={isLocal && at !== null ? exactTime(at) : undefined}
    >
      {shown}
    </time>
  );
}

export const runsTitle = `Last ${shownRuns} Runs`;

/** Contents of the columns that show more than the column's text. */
export const contents: Readonly<
  Partial<Record<string, (props: ContentProps) => ComponentChildren>>
> = {
  Agent: Name,
  State,
  Status,
  [runsTitle]: OutcomeStrip,
  "Last Run": LastRun,
  "Cost Today": Cost,
};

function Name({ agent }: ContentProps) {
  const { name, title, triggers, tags } = agent;
  // A cron expression stays on one line.
  const labels = triggers.map((label) => label.replaceAll(" ", "\u00a0"));
  const facts = [title !== name && title, ...labels, ...tags.map((tag) => `#${tag}`)];
  return (
    <>
      <div class="agent-line">
        {/* A dense table shows the name alone. */}
        <a class="agent-name" href={agentAddress(name)} title={joined([name, ...facts])}>
          {name}
        </a>
        <a class="agent-log" href={logAddress(name)} aria-label={`Log of ${name}`}>
          log
        </a>
      </div>
      <div class="sub">{joined(facts)}</div>
    </>
  );
}

function State({ agent }: ContentProps) {
  const { name, state, blockedBy, running, scale, queued } = agent;
  const text = stateText(agent);
  const isAsking = blockedBy === "person";
  const disabled = disabledText(agent);
  const load = [
    (running > 1 || (running > 0 && scale > 1)) && `${running} of ${scale}`,
    queued > 0 && `${queued} queued`,
  ];
  return (
    <>
      <a
        class={`pill ${state}`}
        href={isAsking ? questionsAddress(name) : `${agentAddress(name)}?tab=why`}
        aria-label={`${text}: ${isAsking ? `questions of ${name}` : `why ${name} did not run`}`}
      >
        {text}
      </a>{" "}
      <span class="pill off" hidden={disabled === null}>
        {disabled}
      </span>
      <div class="sub">{joined(load)}</div>
    </>
  );
}

/** A used-up budget, and a warning, are shown below a status. */
function Status({ agent, column }: ContentProps) {
  const { statusText, usedBudget, warning } = agent;
  const error = errorToShow(agent);
  const status = error === null ? statusText : causeFirst(error);
  const budget = useTicking((now) => usedBudget && usedBudgetText(usedBudget, now));
  const isEmpty = [status, budget, warning].every((text) => text === null);
  return (
    <>
      <StatusLine
        look={
          error !== null
            ? isBlocked(agent)
              ? "warning"
              : "failing"
            : status === null
              ? "muted"
              : ""
        }
        text={status}
        otherwise={isEmpty ? column.emptyText : null}
        isOfAgent={error === null}
      />
      <StatusLine look="warning" text={budget} />
      <StatusLine look="warning" text={warning} />
    </>
  );
}

interface StatusLineProps {
  readonly look: string;
  readonly text: string | null;
  readonly otherwise?: string | null;
  /** Only an agent's own text has links. */
  readonly isOfAgent?: boolean;
}

function StatusLine({ look, text, otherwise = null, isOfAgent = false }: StatusLineProps) {
  const shown = text === null ? otherwise : plainText(text);
  return (
    <div
      class={`status-text ${look}`}
      title={text === null ? undefined : plainText(text)}
      hidden={shown === null}
    >
      {shown !== null && isOfAgent ? <Linked text={shown} /> : shown}
    </div>
  );
}

function LastRun(props: ContentProps) {
  const { name, lastRunAt, lastOutcome, running } = props.agent;
  // The outcome of the run before would be taken for that of the running one.
  const ended = running > 0 ? null : lastOutcome;
  return (
    <>
      {lastRunAt === null ? (
        <Value {...props} />
      ) : (
        <a href={`${agentAddress(name)}/runs/latest`}>
          <span class="visually-hidden">{`Latest run of ${name}, `}</span>
          <Value {...props} />
        </a>
      )}
      {ended !== null && <div class={`sub outcome ${toneOf(ended)}`}>{outcomeText(ended)}</div>}
    </>
  );
}

/** The cost of today, and the part of it that the running runs spent. */
function Cost(props: ContentProps) {
  return (
    <>
      <Value {...props} />
      <div class="sub">{runningCostText(props.agent)}</div>
    </>
  );
}

/** The runs of an agent, the oldest first. */
type Runs = LatestRuns["agents"][number]["runs"];

interface OutcomeStripProps {
  readonly agent: AgentStatus;
  /** Undefined before they are known. */
  readonly runs: Runs | undefined;
}

/** A tick for each of the agent's latest runs, which leads to it. One of them is a tab stop: the arrow keys go to the others. */
function OutcomeStrip({ agent: { name }, runs = [] }: OutcomeStripProps) {
  const isLocal = useIsLocal();
  if (runs.length === 0) return <>–</>;
  const label = `Last ${counted(runs.length, "run")} of ${name}: ${countsText(runs)}`;
  return (
    <div class="strip" role="group" aria-label={label} onKeyDown={moveFocus}>
      {runs.map(({ instanceId, outcome, at }, index) => {
        const look = `tick ${toneOf(outcome)}`;
        if (!isLocal) return <span class={look} key={instanceId} />;
        return (
          <a
            class={look}
            key={instanceId}
            href={runAddress(name, instanceId)}
            title={`${name} ${outcomeText(outcome)}, ${exactTime(at)}`}
            tabIndex={index === runs.length - 1 ? undefined : -1}
          />
        );
      })}
    </div>
  );
}

const siblings: Readonly<Partial<Record<string, (tick: Element) => Element | null | undefined>>> = {
  ArrowLeft: (tick) => tick.previousElementSibling,
  ArrowRight: (tick) => tick.nextElementSibling,
  Home: (tick) => tick.parentElement?.firstElementChild,
  End: (tick) => tick.parentElement?.lastElementChild,
};

function moveFocus(event: KeyboardEvent): void {
  const next = event.target instanceof Element && siblings[event.key]?.(event.target);
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}

/** `2 failed, 18 succeeded`. */
function countsText(runs: Runs): string {
  const counts = Map.groupBy(runs, ({ outcome }) => outcomeText(outcome));
  return [...counts].map(([outcome, { length }]) => `${length} ${outcome}`).join(", ");
}
