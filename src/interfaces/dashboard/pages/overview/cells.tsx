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
  gatheringText,
  runningCostText,
  stateText,
} from "../../../views/agent-columns.ts";
import type { AgentColumn } from "../../../views/agent-columns.ts";
import { useIsLocal, useTicking } from "../../live/clock.ts";
import { agentAddress, questionsAddress, runAddress } from "../../text/addresses.ts";
import { exactTime, joined } from "../../text/format.ts";
import { Linked } from "../../kit/linked.tsx";
import { ListTime } from "../../kit/time.tsx";
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
  const valueAt = (now: number) =>
    column.value(agent, { now, paused: isPaused, draining: isDraining });
  const text = useTicking((now) => valueAt(now).text);
  const shown = text === "" ? emptyText : plainText(text);
  if (side === undefined) return <span>{shown}</span>;
  const { at = null } = valueAt(Date.now());
  if (at === null) return <span class="muted">{shown}</span>;
  return <ListTime at={at} side={side} class={side === "future" ? "live-fact" : undefined} />;
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
      {/* A dense table shows the name alone. */}
      <a class="agent-name" href={agentAddress(name)} title={joined([name, ...facts])}>
        {name}
      </a>
      <div class="sub">{joined(facts)}</div>
    </>
  );
}

/** A disabled agent that is idle has one word for both. */
function State({ agent }: ContentProps) {
  const { name, state, blockedBy } = agent;
  const text = stateText(agent);
  const isAsking = blockedBy === "person";
  const disabled = disabledText(agent);
  const isOff = disabled !== null && state === "idle";
  const look = isAsking ? "asking" : state;
  return (
    <a
      class={`pill ${isOff ? "off" : look}`}
      href={isAsking ? questionsAddress(name) : `${agentAddress(name)}?tab=why`}
      title={joined([text, disabled])}
      aria-label={`${isOff ? "disabled" : text}: ${isAsking ? `questions of ${name}` : `why ${name} did not run`}`}
    >
      {isOff ? "disabled" : state}
    </a>
  );
}

/** One line: the cause or the agent's own text, then in grey the place of the cause, and the load. */
function Status({ agent, column }: ContentProps) {
  const { name, usedBudget, blockedBy } = agent;
  const budget = useTicking((now) => usedBudget && usedBudgetText(usedBudget, now));
  const gathering = useTicking((now) => gatheringText(agent, now));
  const { first, more } = reasonOf(agent, budget, gathering);
  const rest = plainText(more);
  const shown = plainText(first ?? (more === "" ? column.emptyText : ""));
  return (
    <div class="reason-line">
      <span class="status-text" title={first === null ? undefined : joined([shown, rest])}>
        <span class={first === null ? "muted" : "cause"}>
          {errorToShow(agent) === null ? <Linked text={shown} /> : shown}
        </span>
        {rest !== "" && <span class="muted">{first === null ? rest : ` · ${rest}`}</span>}
      </span>
      {blockedBy === "person" && (
        <a href={questionsAddress(name)} aria-label={`Answer ${name}`}>
          Answer
        </a>
      )}
    </div>
  );
}

function reasonOf(agent: AgentStatus, budget: string | null, gathering: string | null) {
  const error = errorToShow(agent);
  const [cause = null, ...places] =
    error === null ? [agent.statusText] : causeFirst(error).split(" · ");
  const [first = null, ...rest] = [cause, budget, ...places, agent.warning].filter(
    (text) => text !== null,
  );
  return { first, more: joined([...rest, ...loadOf(agent), gathering]) };
}

function loadOf(agent: AgentStatus) {
  const { state, running, scale, queued } = agent;
  const disabled = disabledText(agent);
  return [
    // The state's own word.
    state === "idle" && disabled === "disabled" ? null : disabled,
    (running > 1 || (running > 0 && scale > 1)) && `${running} of ${scale}`,
    queued > 0 && `${queued} queued`,
  ];
}

function LastRun(props: ContentProps) {
  const { name, lastRunAt, lastOutcome, running } = props.agent;
  if (lastRunAt === null) return <Value {...props} />;
  // The outcome of the run before would be taken for that of the running one.
  const ended = running > 0 ? null : lastOutcome;
  const isBad = ended !== null && toneOf(ended) === "error";
  return (
    <a class={isBad ? "outcome failed" : ""} href={`${agentAddress(name)}/runs/latest`}>
      <span class="visually-hidden">{`Latest run of ${name}, `}</span>
      <Value {...props} />
      {ended !== null && <span class="visually-hidden"> {outcomeText(ended)}</span>}
    </a>
  );
}

/** The cost of today, with the part of it that the running runs spent as its title. */
function Cost(props: ContentProps) {
  return (
    <span title={runningCostText(props.agent) ?? undefined}>
      <Value {...props} />
    </span>
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
