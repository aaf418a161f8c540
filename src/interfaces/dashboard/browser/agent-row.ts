import type { AgentStatus, SchedulerStatus } from "../../../../streams/status/wire.ts";
import { agentColumns } from "../../../foundation/contracts/agent-columns.ts";
import type { Moment } from "../../../foundation/contracts/agent-columns.ts";
import { offer, onPress } from "./actions.ts";
import { createAgentCell } from "./agent-cells.ts";
import { refusalsOf, setEnabled, triggerRun } from "./agent-requests.ts";
import { create, createButton, setAttribute, setAttributes, setText } from "./dom.ts";
import type { View } from "./views.ts";

/** Why no cron tick comes. */
export type PauseState = Pick<SchedulerStatus, "paused" | "draining">;

/** An agent as its row shows it. A filter hides rows. */
export interface ShownAgent {
  readonly agent: AgentStatus;
  readonly scheduler: PauseState;
  readonly isHidden: boolean;
  readonly isSelected: boolean;
}

/** Makes the row of an agent; `onSelect` is called when its box is checked or cleared. */
export function createAgentRow(
  { agent: { name } }: ShownAgent,
  onSelect: (agent: string, isSelected: boolean) => void,
): View<ShownAgent> {
  const actions = createRowActions(name);
  const box = create("input");
  setAttributes(box, { type: "checkbox", "aria-label": `Select ${name}` });
  box.addEventListener("change", () => onSelect(name, box.checked));
  const element = create("tr");
  setAttributes(element, { "data-agent": name, role: "row" });
  element.append(tableCell("Select", box));
  const cells = agentColumns
    .filter(({ isLiveOnly }) => isLiveOnly !== true)
    .map((column) => {
      const cell = createAgentCell(column, name);
      element.append(tableCell(column.title, ...cell.content));
      return cell;
    });
  element.append(tableCell("Actions", actions.element));

  let shown: ShownAgent | null = null;
  const momentAt = (now: number, { paused, draining }: PauseState): Moment => ({
    now,
    paused,
    draining,
  });
  return {
    elements: () => [element],
    show(now) {
      element.hidden = now.isHidden;
      if (box.checked !== now.isSelected) box.checked = now.isSelected;
      if (now.agent === shown?.agent && now.scheduler === shown.scheduler) return;
      shown = now;
      for (const cell of cells) cell.show(now.agent, momentAt(Date.now(), now.scheduler));
      actions.show(now.agent);
    },
    tick(now) {
      if (shown === null) return;
      for (const cell of cells) cell.tick?.(shown.agent, momentAt(now, shown.scheduler));
    },
  };
}

/** On a narrow screen the rows are cards, and each cell shows its label. */
function tableCell(label: string, ...content: readonly (HTMLElement | string)[]): HTMLElement {
  const isHeader = label === "Agent";
  const className = label.toLowerCase().replace(" ", "-");
  const element = create(isHeader ? "th" : "td", className, create("div", "cell", ...content));
  setAttributes(element, { "data-label": label, role: isHeader ? "rowheader" : "cell" });
  return element;
}

function createRowActions(name: string): {
  readonly element: HTMLElement;
  show(agent: AgentStatus): void;
} {
  const run = createButton("button acts", "Run");
  run.setAttribute("aria-label", `Run ${name}`);
  const toggle = createButton("button acts");
  let isEnabled = true;
  onPress(run, () => triggerRun(name));
  onPress(toggle, () => setEnabled(name, !isEnabled));
  return {
    element: create("div", "actions-group", run, toggle),
    show: (agent) => {
      isEnabled = agent.enabled;
      const word = isEnabled ? "Disable" : "Enable";
      const refusals = refusalsOf(agent);
      offer(run, refusals.run);
      offer(toggle, refusals.toggle);
      setText(toggle, word);
      setAttribute(toggle, "aria-label", `${word} ${name}`);
    },
  };
}
