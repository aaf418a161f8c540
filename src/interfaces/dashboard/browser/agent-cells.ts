import type { AgentStatus } from "../../../../streams/status/wire.ts";
import {
  disabledText,
  runningCostText,
  errorToShow,
} from "../../../foundation/contracts/agent-columns.ts";
import type { AgentColumn, Moment } from "../../../foundation/contracts/agent-columns.ts";
import { outcomeText } from "../../../foundation/contracts/format.ts";
import { usedBudgetText } from "../../../foundation/contracts/spend-text.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { agentAddress, latestRunAddress, logAddress } from "./addresses.ts";
import { create, createLink, setAttribute, setText } from "./dom.ts";
import { exactTime } from "./format.ts";

/** What an agent's row shows in one column. It is made once; each change is written into it. */
export interface AgentCell {
  readonly content: readonly (HTMLElement | string)[];
  readonly show: (agent: AgentStatus, moment: Moment) => void;
  /** Shows what changes with the time alone. */
  readonly tick?: (agent: AgentStatus, moment: Moment) => void;
}

/** Makes the cell of a column: most show the column's text alone. */
export function createAgentCell(column: AgentColumn, name: string): AgentCell {
  switch (column.title) {
    case "Agent":
      return nameCell(name);
    case "State":
      return stateCell();
    case "Status":
      return statusCell(column);
    case "Last Run":
      return lastRunCell(column);
    case "Cost Today":
      return costCell(column);
    default:
      return valueCell(column);
  }
}

function valueCell({ value, side, emptyText }: AgentColumn): Required<AgentCell> {
  const element = create(side === undefined ? "span" : "time");
  if (side === "future") element.classList.add("live-fact");
  const tick = (agent: AgentStatus, moment: Moment): void => {
    const { text } = value(agent, moment);
    setText(element, text === "" ? emptyText : plainText(text));
  };
  return {
    content: [element],
    show: (agent, moment) => {
      tick(agent, moment);
      if (side === undefined) return;
      const { at = null } = value(agent, moment);
      setAttribute(element, "datetime", at);
      setAttribute(element, "title", at === null ? null : exactTime(Date.parse(at)));
      element.classList.toggle("muted", at === null);
    },
    tick,
  };
}

function nameCell(name: string): AgentCell {
  const link = createLink(agentAddress(name), "agent-name", name);
  const log = createLink(logAddress(name), "agent-log", "log");
  log.setAttribute("aria-label", `Log of ${name}`);
  const subtitle = create("div", "sub");
  return {
    content: [create("div", "agent-line", link, log), subtitle],
    show: ({ title, triggers, tags }) => {
      // A cron expression stays on one line.
      const labels = triggers.map((label) => label.replaceAll(" ", "\u00a0"));
      const facts = [
        ...(title === name ? [] : [title]),
        ...labels,
        ...tags.map((tag) => `#${tag}`),
      ];
      setText(subtitle, facts.join(" · "));
      // A dense table shows the name alone.
      setAttribute(link, "title", [name, ...facts].join(" · "));
    },
  };
}

function stateCell(): AgentCell {
  const pill = create("span", "pill");
  const badge = create("span", "pill off");
  const load = create("div", "sub");
  return {
    content: [pill, " ", badge, load],
    show: (agent) => {
      setText(pill, agent.state);
      setAttribute(pill, "class", `pill ${agent.state}`);
      const disabled = disabledText(agent);
      badge.hidden = disabled === null;
      setText(badge, disabled ?? "");
      setText(load, loadOf(agent));
    },
  };
}

function loadOf({ running, scale, queued }: AgentStatus): string {
  const parts = [
    ...(running > 1 || (running > 0 && scale > 1) ? [`${running} of ${scale} running`] : []),
    ...(queued > 0 ? [`${queued} queued`] : []),
  ];
  return parts.join(" · ");
}

/** A budget that is used up, and a warning, stand below a status. */
function statusCell({ emptyText }: AgentColumn): AgentCell {
  const status = create("div", "status-text");
  const budgetLine = create("div", "status-text warning");
  const warningLine = create("div", "status-text warning");
  const show = (element: HTMLElement, text: string | null, otherwise: string): void => {
    setText(element, text === null ? otherwise : plainText(text));
    setAttribute(element, "title", text === null ? null : plainText(text));
  };
  const tick = ({ usedBudget }: AgentStatus, { now }: Moment): void => {
    budgetLine.hidden = usedBudget === null;
    show(budgetLine, usedBudget && usedBudgetText(usedBudget, now), "");
  };
  return {
    content: [status, budgetLine, warningLine],
    tick,
    show: (agent, moment) => {
      const { statusText, usedBudget, warning } = agent;
      const error = errorToShow(agent);
      const text = error ?? statusText;
      tick(agent, moment);
      show(status, text, emptyText);
      status.hidden = text === null && (warning !== null || usedBudget !== null);
      const look = error !== null ? " failing" : text === null ? " muted" : "";
      setAttribute(status, "class", `status-text${look}`);
      show(warningLine, warning, "");
      warningLine.hidden = warning === null;
    },
  };
}

/** Below what was spent today stands what of it the running runs spent. */
function costCell(column: AgentColumn): AgentCell {
  const spent = valueCell(column);
  const running = create("div", "sub");
  return {
    content: [...spent.content, running],
    show: (agent, moment) => {
      spent.show(agent, moment);
      setText(running, runningCostText(agent) ?? "");
    },
    tick: spent.tick,
  };
}

function lastRunCell(column: AgentColumn): AgentCell {
  const time = valueCell(column);
  const link = create("a", "quiet", ...time.content);
  const outcome = create("div", "sub");
  return {
    content: [link, outcome],
    show: (agent, moment) => {
      time.show(agent, moment);
      setAttribute(link, "href", agent.lastRunAt === null ? null : latestRunAddress(agent.name));
      // While a run is running, it is the last run: the outcome of the one before would be taken for its own.
      const ended = agent.running > 0 ? "" : (agent.lastOutcome ?? "");
      setText(outcome, outcomeText(ended));
      setAttribute(outcome, "class", `sub outcome ${ended}`);
    },
    tick: time.tick,
  };
}
