import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { plainText } from "../../../contracts/plain-text.ts";
import { disabledText } from "../../../contracts/agent-columns.ts";
import { durationText, outcomeText } from "../../../contracts/format.ts";
import { announce, offer, onPress, post } from "./actions.ts";
import { offersOf } from "./agent-offers.ts";
import { create, setAttribute, setText } from "./dom.ts";
import { createTime } from "./time-cell.ts";

/** One agent's row. It is made once; each change is written into it, so focus, selection and scroll stay. */
export interface AgentRow {
  readonly element: HTMLElement;
  show(agent: AgentStatus, isPaused: boolean): void;
  tick(now: number): void;
}

/** Makes the row of an agent. */
export function createAgentRow(name: string): AgentRow {
  const path = encodeURIComponent(name);
  const link = create("a", "agent-name", name);
  link.href = `/dashboard/agents/${path}/logs`;
  const details = create("a", "agent-details", "details");
  details.href = `/dashboard/agents/${path}`;
  details.setAttribute("aria-label", `Details of ${name}`);
  const subtitle = create("div", "sub");
  const pill = create("span", "pill");
  const disabled = create("span", "pill off");
  const load = create("div", "sub");
  const status = create("div", "status-text");
  const warning = create("div", "status-text warning");
  const lastRun = createTime("past");
  const outcome = create("div", "sub");
  const duration = create("span");
  const nextRun = createTime("future");
  nextRun.element.classList.toggle("live-fact", true);
  const run = create("button", "button acts", "Run");
  const toggle = create("button", "button acts");
  run.setAttribute("aria-label", `Run ${name}`);

  const element = create("tr");
  element.dataset.agent = name;
  element.setAttribute("role", "row");
  element.append(
    cell("Agent", link, details, subtitle),
    cell("State", pill, " ", disabled, load),
    cell("Status", status, warning),
    cell("Last Run", lastRun.element, outcome),
    cell("Duration", duration),
    cell("Next Run", nextRun.element),
    cell("Actions", actions(run, toggle)),
  );

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

  let runningSince: number | null = null;
  const showRunning = (now: number): void => {
    if (runningSince !== null) setText(duration, durationText(Math.max(0, now - runningSince)));
  };
  const showState = (agent: AgentStatus): void => {
    setText(pill, agent.state);
    setAttribute(pill, "class", `pill ${agent.state}`);
    const badge = disabledText(agent);
    disabled.hidden = badge === null;
    setText(disabled, badge ?? "");
    setText(load, loadOf(agent));
    const said = agent.error ?? agent.statusText;
    status.hidden = said === null && agent.warning !== null;
    setText(status, said === null ? "–" : plainText(said));
    setAttribute(status, "class", statusClass(agent));
    setAttribute(status, "title", said === null ? null : plainText(said));
    setText(warning, plainText(agent.warning ?? ""));
    setAttribute(warning, "title", agent.warning === null ? null : plainText(agent.warning));
    warning.hidden = agent.warning === null;
  };
  const showTimes = (agent: AgentStatus, isPaused: boolean): void => {
    const isRunning = agent.running > 0;
    // While one runs, the last run is that one: how the one before it ended would be taken for its end.
    const ended = isRunning ? "" : (agent.lastOutcome ?? "");
    runningSince = isRunning && agent.lastRunAt !== null ? Date.parse(agent.lastRunAt) : null;
    lastRun.show(agent.lastRunAt, "never");
    setText(outcome, outcomeText(ended));
    setAttribute(outcome, "class", `sub outcome ${ended}`);
    setText(duration, agent.lastDurationMs === null ? "–" : durationText(agent.lastDurationMs));
    showRunning(Date.now());
    // While the scheduler is paused, a cron tick that comes is skipped.
    const isHeld = isPaused && agent.nextRunAt !== null;
    nextRun.show(isHeld ? null : agent.nextRunAt, isHeld ? "paused" : "–");
  };
  const showActions = (agent: AgentStatus): void => {
    isEnabled = agent.enabled;
    const word = isEnabled ? "Disable" : "Enable";
    const { noRun, noToggle } = offersOf(agent);
    offer(run, noRun);
    offer(toggle, noToggle);
    setText(toggle, word);
    setAttribute(toggle, "aria-label", `${word} ${name}`);
  };

  return {
    element,
    show(agent, isPaused) {
      setText(subtitle, subtitleOf(agent));
      showState(agent);
      showTimes(agent, isPaused);
      showActions(agent);
    },
    tick(now) {
      lastRun.tick(now);
      showRunning(now);
      nextRun.tick(now);
    },
  };
}

/** On a narrow screen the rows are cards, and each cell shows its label. */
function cell(label: string, ...content: readonly (HTMLElement | string)[]): HTMLElement {
  const element = create(label === "Agent" ? "th" : "td", label.toLowerCase().replace(" ", "-"));
  element.dataset.label = label;
  element.setAttribute("role", label === "Agent" ? "rowheader" : "cell");
  const box = create("div", "cell");
  box.append(...content);
  element.append(box);
  return element;
}

function actions(...buttons: readonly HTMLElement[]): HTMLElement {
  const group = create("div", "actions-group");
  for (const button of buttons) button.setAttribute("type", "button");
  group.append(...buttons);
  return group;
}

function subtitleOf(agent: AgentStatus): string {
  const title = agent.title === agent.name ? [] : [agent.title];
  // A cron expression stays on one line.
  const triggers = agent.triggers.map((label) => label.replaceAll(" ", "\u00a0"));
  return [...title, ...triggers].join(" · ");
}

function loadOf({ running, scale, queued }: AgentStatus): string {
  const parts = [
    ...(running > 1 || (running > 0 && scale > 1) ? [`${running} of ${scale} running`] : []),
    ...(queued > 0 ? [`${queued} queued`] : []),
  ];
  return parts.join(" · ");
}

function statusClass({ error, statusText }: AgentStatus): string {
  if (error !== null) return "status-text failing";
  return statusText === null ? "status-text muted" : "status-text";
}
