import type { ComponentChildren } from "preact";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { agentColumns, type AgentColumn } from "../../../views/agent-columns.ts";
import { refusalsOf, setEnabled, triggerRun } from "../../live/agent-requests.ts";
import { Action } from "../../kit/action.tsx";
import { contents, runsTitle, Value, type ShownAgent } from "./cells.tsx";
import { memo } from "../../kit/memo.ts";

/** A column of ticks, for which only a page has room. */
const runsColumn: AgentColumn = {
  title: runsTitle,
  emptyText: "–",
  width: null,
  keep: null,
  value: () => ({ text: "", tone: "muted" }),
};

/** The columns that the overview shows of each agent. */
export const columns = agentColumns
  .filter(({ isLiveOnly }) => isLiveOnly !== true)
  .toSpliced(3, 0, runsColumn);

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
    <tr data-agent={name} role="row" class={lookOf(agent)}>
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

/** How many characters fit into a narrow column. */
const shortStatus = 18;

/** A problem has a line of its own, over the whole width; where the column is narrow, so has a long status of a run. */
function lookOf(agent: AgentStatus): string | undefined {
  const { error, usedBudget, warning, state, statusText } = agent;
  if ([error, usedBudget, warning].some((one) => one !== null)) return "problem";
  const isLong = state !== "idle" && (statusText?.length ?? 0) > shortStatus;
  return isLong ? "long" : undefined;
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
