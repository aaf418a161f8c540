import type { ComponentChildren } from "preact";
import { agentColumns, type AgentColumn } from "../../../views/agent-columns.ts";
import { contents, runsTitle, Value, type ShownAgent } from "./cells.tsx";
import { memo } from "../../kit/memo.ts";
import { RowActions } from "./row-actions.tsx";
import { urgencyGroupOf } from "../../../views/agent-order.ts";
import { toneOfGroup } from "./group-head.tsx";

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
  /** True if it would be in another group by now. */
  readonly hasMoved: boolean;
  readonly isSelected: boolean;
  readonly onSelect: (agent: string, isSelected: boolean) => void;
}

/** The row of an agent, which is rendered again only if its own status changed. */
export const AgentRow = memo(({ hasMoved, isSelected, onSelect, ...shown }: AgentRowProps) => {
  const { agent } = shown;
  const { name } = agent;
  const group = urgencyGroupOf(agent);
  const okLook = agent.warning === null ? "" : "warning";
  return (
    <tr
      data-agent={name}
      role="row"
      class={`${group === "OK" ? okLook : toneOfGroup[group]} ${hasMoved ? "moved" : ""}`}
    >
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
        <RowActions agent={agent} />
      </Cell>
    </tr>
  );
});

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
