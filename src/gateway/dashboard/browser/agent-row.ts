import type { AgentStatus, SchedulerStatus } from "../../../../streams/status/wire.ts";
import { agentColumns } from "../../../contracts/agent-columns.ts";
import type { Moment } from "../../../contracts/agent-columns.ts";
import { announce, offer, onPress, post } from "./actions.ts";
import { createAgentCell } from "./agent-cells.ts";
import { offersOf } from "./agent-offers.ts";
import { create, setAttribute, setText } from "./dom.ts";

/** One agent's row. It is made once; each change is written into it, so focus, selection and scroll stay. */
export interface AgentRow {
  readonly element: HTMLElement;
  show(agent: AgentStatus, scheduler: PauseState): void;
  tick(now: number): void;
}

/** Why no cron tick comes. */
export type PauseState = Pick<SchedulerStatus, "paused" | "draining">;

/** Makes the row of an agent. */
export function createAgentRow(name: string): AgentRow {
  const actions = createRowActions(name);
  const element = create("tr");
  element.dataset.agent = name;
  element.setAttribute("role", "row");
  const cells = agentColumns
    .filter(({ isLiveOnly }) => isLiveOnly !== true)
    .map((column) => {
      const cell = createAgentCell(column, name);
      element.append(tableCell(column.title, ...cell.content));
      return cell;
    });
  element.append(tableCell("Actions", actions.element));

  let shown: { readonly agent: AgentStatus; readonly scheduler: PauseState } | null = null;
  const momentAt = (now: number, { paused, draining }: PauseState): Moment => ({
    now,
    paused,
    draining,
  });
  return {
    element,
    show(agent, scheduler) {
      shown = { agent, scheduler };
      for (const cell of cells) cell.show(agent, momentAt(Date.now(), scheduler));
      actions.show(agent);
    },
    tick(now) {
      if (shown === null) return;
      for (const cell of cells) cell.tick?.(shown.agent, momentAt(now, shown.scheduler));
    },
  };
}

/** On a narrow screen the rows are cards, and each cell shows its label. */
function tableCell(label: string, ...content: readonly (HTMLElement | string)[]): HTMLElement {
  const element = create(label === "Agent" ? "th" : "td", label.toLowerCase().replace(" ", "-"));
  element.dataset.label = label;
  element.setAttribute("role", label === "Agent" ? "rowheader" : "cell");
  const box = create("div", "cell");
  box.append(...content);
  element.append(box);
  return element;
}

function createRowActions(name: string): {
  readonly element: HTMLElement;
  show(agent: AgentStatus): void;
} {
  const path = encodeURIComponent(name);
  const run = create("button", "button acts", "Run");
  const toggle = create("button", "button acts");
  run.setAttribute("aria-label", `Run ${name}`);
  const element = create("div", "actions-group");
  for (const button of [run, toggle]) button.setAttribute("type", "button");
  element.append(run, toggle);

  let isEnabled = true;
  onPress(run, async () => {
    const answer = await post(`/control/trigger/${path}`);
    if (answer !== null)
      announce(`${name} ${answer.queued === true ? "is queued" : "was started"}`);
  });
  onPress(toggle, async () => {
    const answer = await post(`/control/agents/${path}/${isEnabled ? "disable" : "enable"}`);
    if (answer !== null) announce(`${name} ${answer.enabled === true ? "enabled" : "disabled"}`);
  });
  return {
    element,
    show: (agent) => {
      isEnabled = agent.enabled;
      const word = isEnabled ? "Disable" : "Enable";
      const { noRun, noToggle } = offersOf(agent);
      offer(run, noRun);
      offer(toggle, noToggle);
      setText(toggle, word);
      setAttribute(toggle, "aria-label", `${word} ${name}`);
    },
  };
}
