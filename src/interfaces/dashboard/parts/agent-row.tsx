/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { usedBudgetText } from "../../../features/spend/spend-text.ts";
import { outcomeText } from "../../../foundation/contracts/format.ts";
import type { OutcomeCounts } from "../../../foundation/contracts/history.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import {
  agentColumns,
  causeFirst,
  disabledText,
  errorToShow,
  isBlocked,
  runningCostText,
  stateText,
} from "../../views/agent-columns.ts";
import type { AgentColumn } from "../../views/agent-columns.ts";
import { refusalsOf, setEnabled, triggerRun } from "../live/agent-requests.ts";
import { useIsLocal, useTicking } from "../live/clock.ts";
import { agentAddress, latestRunAddress, logAddress } from "../text/addresses.ts";
import { exactTime } from "../text/format.ts";
import { Action } from "./action.tsx";
import { Linked } from "./linked.tsx";
import { memo } from "./memo.ts";
import { OutcomeStrip } from "./outcome-strip.tsx";
import type { Counts } from "./outcome-strip.tsx";

/** A column of ticks, which only a page has room for. */
const outcomesColumn: AgentColumn = {
  title: "Last 3 Days",
  emptyText: "–",
  width: null,
  keep: null,
  value: () => ({ text: "", tone: "muted" }),
};

/** The columns that the overview shows of each agent. */
export const columns = agentColumns
  .filter(({ isLiveOnly }) => isLiveOnly !== true)
  .toSpliced(3, 0, outcomesColumn);

interface ShownAgent {
  readonly agent: AgentStatus;
  /** A scheduler that is paused or stops has no next runs. */
  readonly isPaused: boolean;
  readonly isDraining: boolean;
  readonly buckets: OutcomeCounts["buckets"];
  readonly counts: Counts | undefined;
}

interface AgentRowProps extends ShownAgent {
  readonly isSelected: boolean;
  readonly onSelect: (agent: string, isSelected: boolean) => void;
}

/** The row of an agent, which is rendered again only if its own status changed. */
export const AgentRow = memo(({ isSelected, onSelect, ...shown }: AgentRowProps) => {
  const { agent } = shown;
  const { name, enabled } = agent;
  const toggle = enabled ? "Disable" : "Enable";
  const refusals = refusalsOf(agent);
  return (
    <tr data-agent={name} role="row" class={hasProblem(agent) ? "problem" : undefined}>
      <Cell title="Select">
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={isSelected}
          onChange={({ currentTarget }) => onSelect(name, currentTarget.checked)}
        />
      </Cell>
      {columns.map((column) => {
        const Content = contents[column.title] ?? Value;
        return (
          <Cell title={column.title} key={column.title}>
            <Content {...shown} column={column} />
          </Cell>
        );
      })}
      <Cell title="Actions">
        <div class="actions-group">
          <Action label={`Run ${name}`} whyNot={refusals.run} act={() => triggerRun(name)}>
            Run
          </Action>
          <Action
            label={`${toggle} ${name}`}
            whyNot={refusals.toggle}
            act={() => setEnabled(name, !enabled)}
          >
            {toggle}
          </Action>
        </div>
      </Cell>
    </tr>
  );
});

/** Its status then has a line of its own, over the whole width. */
function hasProblem({ error, usedBudget, warning }: AgentStatus): boolean {
  return [error, usedBudget, warning].some((one) => one !== null);
}

function Cell(props: { readonly title: string; readonly children: ComponentChildren }) {
  const content = <div class="cell">{props.children}</div>;
  const attributes = { class: cellClass(props.title) };
  if (props.title === "Agent") {
    return (
      <th {...attributes} role="rowheader">
        {content}
      </th>
    );
  }
  return (
    <td {...attributes} role="cell">
      {content}
    </td>
  );
}

export function cellClass(title: string): string {
  return title.toLowerCase().replaceAll(" ", "-");
}

interface ContentProps extends ShownAgent {
  readonly column: AgentColumn;
}

/** The text of a column, which may change with the time alone. */
function Value({ agent, column, isPaused, isDraining }: ContentProps) {
  const { side, emptyText } = column;
  const isLocal = useIsLocal();
  const valueAt = (now: number) =>
    column.value(agent, { now, paused: isPaused, draining: isDraining });
  const text = useTicking((now) => valueAt(now).text);
  const shown = text === "" ? emptyText : plainText(text);
  if (side === undefined) return <span>{shown}</span>;
  const { at = null } = valueAt(Date.now());
  const looks = [...(side === "future" ? ["live-fact"] : []), ...(at === null ? ["muted"] : [])];
  return (
    <time
      class={looks.join(" ")}
      dateTime={at ?? undefined}
      title={isLocal && at !== null ? exactTime(Date.parse(at)) : undefined}
    >
      {shown}
    </time>
  );
}

/** Contents of the columns that show more than the column's text. */
const contents: Readonly<Partial<Record<string, (props: ContentProps) => ComponentChildren>>> = {
  Agent: Name,
  State,
  Status,
  "Last 3 Days": OutcomeStrip,
  "Last Run": LastRun,
  "Cost Today": Cost,
};

function Name({ agent }: ContentProps) {
  const { name, title, triggers, tags } = agent;
  // A cron expression stays on one line.
  const labels = triggers.map((label) => label.replaceAll(" ", "\u00a0"));
  const facts = [...(title === name ? [] : [title]), ...labels, ...tags.map((tag) => `#${tag}`)];
  return (
    <>
      <div class="agent-line">
        {/* A dense table shows the name alone. */}
        <a class="agent-name" href={agentAddress(name)} title={[name, ...facts].join(" · ")}>
          {name}
        </a>
        <a class="agent-log" href={logAddress(name)} aria-label={`Log of ${name}`}>
          log
        </a>
      </div>
      <div class="sub">{facts.join(" · ")}</div>
    </>
  );
}

function State({ agent }: ContentProps) {
  const { state, running, scale, queued } = agent;
  const disabled = disabledText(agent);
  const load = [
    ...(running > 1 || (running > 0 && scale > 1) ? [`${running} of ${scale}`] : []),
    ...(queued > 0 ? [`${queued} queued`] : []),
  ];
  return (
    <>
      <span class={`pill ${state}`}>{stateText(agent)}</span>{" "}
      <span class="pill off" hidden={disabled === null}>
        {disabled}
      </span>
      <div class="sub">{load.join(" · ")}</div>
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
}

function StatusLine({ look, text, otherwise = null }: StatusLineProps) {
  const shown = text === null ? otherwise : plainText(text);
  return (
    <div
      class={`status-text ${look}`}
      title={text === null ? undefined : plainText(text)}
      hidden={shown === null}
    >
      {shown !== null && <Linked text={shown} />}
    </div>
  );
}

function LastRun(props: ContentProps) {
  const { name, lastRunAt, lastOutcome, running } = props.agent;
  const text = useTicking(
    (now) => props.column.value(props.agent, { now, paused: false, draining: false }).text,
  );
  // The outcome of the run before would be taken for that of the running one.
  const ended = running > 0 ? "" : (lastOutcome ?? "");
  return (
    <>
      {lastRunAt === null ? (
        <Value {...props} />
      ) : (
        <a href={latestRunAddress(name)} aria-label={`Latest run of ${name}, ${text}`}>
          <Value {...props} />
        </a>
      )}
      <div class={`sub outcome ${ended}`}>{outcomeText(ended)}</div>
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
