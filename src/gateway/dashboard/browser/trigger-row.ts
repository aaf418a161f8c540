import type { HistoryEntry } from "../../../contracts/history.ts";
import { durationText, outcomeText } from "../../../contracts/format.ts";
import { create, setAttribute, setText } from "./dom.ts";
import { cellOf } from "./run-list.ts";
import { createLogLink } from "./run-link.ts";
import { createTime } from "./time-cell.ts";
import { createTriggerDetails } from "./trigger-details.ts";
import type { TriggerDetails } from "./trigger-details.ts";
import { triggerLabel, triggerWords } from "./trigger-label.ts";
import { stateOf, whyText } from "./trigger-words.ts";

/** One entry of the history. What unfolds below it is made when it is first asked for. */
export interface TriggerRow {
  readonly element: HTMLElement;
  /** The rows of it that are in the table: its own, and the unfolded one. */
  readonly rows: () => readonly HTMLElement[];
  show(entry: HistoryEntry): void;
  tick(now: number): void;
}

const columnCount = 7;

/** Makes the row of an entry. */
export function createTriggerRow(first: HistoryEntry): TriggerRow {
  let entry = first;
  let details: DetailsRow | null = null;
  let startedAt: number | null = null;
  const at = createTime("past");
  const agent = create("div", "agent-cell");
  const log = createLogLink();
  agent.append(agentLink(first.agent), log.element);
  const outcome = create("span");
  const deadLetter = create("span", "pill off", "dead letter");
  const duration = create("span", "number");
  const why = create("span", "why");
  const more = create("button", "link", "Details");
  more.setAttribute("type", "button");
  more.setAttribute("aria-label", `Details of the ${triggerWords(first)} of ${first.at}`);
  const element = create("tr");
  element.dataset.entry = first.id;
  element.append(
    cellOf(at.element),
    cellOf(triggerLabel(first)),
    cellOf(agent),
    cellOf(outcome, " ", deadLetter),
    cellOf(duration),
    cellOf(why),
    cellOf(more),
  );

  const setOpen = (isOpen: boolean): void => {
    setAttribute(more, "aria-expanded", String(isOpen));
    setText(more, isOpen ? "Hide" : "Details");
    if (isOpen) {
      details ??= createDetailsRow(entry);
      element.after(details.row);
    } else {
      details?.row.remove();
    }
  };
  more.addEventListener("click", () => setOpen(more.getAttribute("aria-expanded") !== "true"));
  setAttribute(more, "aria-expanded", "false");

  const tick = (now: number): void => {
    at.tick(now);
    if (startedAt !== null) setText(duration, durationText(Math.max(0, now - startedAt)));
  };

  return {
    element,
    rows: () => (details === null ? [element] : [element, details.row]),
    show(now) {
      entry = now;
      const word = stateOf(now);
      startedAt = word === "running" ? Date.parse(now.startedAt ?? "") : null;
      at.show(now.at, "–");
      log.show(now);
      setText(outcome, outcomeText(word));
      setAttribute(outcome, "class", `outcome ${word}`);
      deadLetter.hidden = !now.deadLetter;
      setText(duration, now.durationMs === null ? "–" : durationText(now.durationMs));
      tick(Date.now());
      setText(why, whyText(now));
      if (more.getAttribute("aria-expanded") === "true") details?.show(now);
    },
    tick,
  };
}

interface DetailsRow extends Pick<TriggerDetails, "show"> {
  readonly row: HTMLElement;
}

function createDetailsRow(entry: HistoryEntry): DetailsRow {
  const details = createTriggerDetails(entry);
  const cell = cellOf(details.element);
  cell.colSpan = columnCount;
  const row = create("tr", "details-row");
  row.append(cell);
  return { row, show: (now) => details.show(now) };
}

function agentLink(agent: string | null): HTMLElement {
  if (agent === null) return create("span", "muted", "none");
  const link = create("a", "cut-name", agent);
  link.href = `/dashboard/agents/${encodeURIComponent(agent)}`;
  link.title = agent;
  return link;
}
