import type { HistoryEntry } from "../../../contracts/history.ts";
import { create, setAttribute, setText } from "./dom.ts";
import type { PageElement } from "./dom.ts";
import { durationText, outcomeText } from "./format.ts";
import { cellOf, triggerWords } from "./run-list.ts";
import { createTime } from "./time-cell.ts";
import { triggerDetails } from "./trigger-details.ts";
import { whyText } from "./trigger-words.ts";

/** One entry of the history. What unfolds below it is made when it is first asked for. */
export interface TriggerRow {
  readonly element: PageElement;
  /** The rows of it that are in the table: its own, and the unfolded one. */
  readonly rows: () => readonly PageElement[];
  show(entry: HistoryEntry): void;
  tick(now: number): void;
}

const columnCount = 7;

/** Makes the row of an entry. */
export function createTriggerRow(first: HistoryEntry): TriggerRow {
  let entry = first;
  let details: PageElement | null = null;
  const at = createTime("past");
  const outcome = create("span");
  const deadLetter = create("span", "pill off", "dead letter");
  const duration = create("span");
  const why = create("span", "why");
  const more = create("button", "link", "Details");
  more.setAttribute("type", "button");
  more.setAttribute("aria-label", `Details of the ${triggerWords(first)} of ${first.at}`);
  const element = create("tr");
  element.dataset.entry = first.id;
  element.append(
    cellOf("td", at.element),
    cellOf("td", triggerWords(first)),
    cellOf("td", agentLink(first)),
    cellOf("td", outcome, " ", deadLetter),
    cellOf("td", duration),
    cellOf("td", why),
    cellOf("td", more),
  );

  const setOpen = (isOpen: boolean): void => {
    setAttribute(more, "aria-expanded", String(isOpen));
    setText(more, isOpen ? "Hide" : "Details");
    if (isOpen) {
      details ??= detailsRow(entry);
      element.after(details);
    } else {
      details?.remove();
    }
  };
  more.addEventListener("click", () => setOpen(more.getAttribute("aria-expanded") !== "true"));
  setAttribute(more, "aria-expanded", "false");

  return {
    element,
    rows: () => (details === null ? [element] : [element, details]),
    show(now) {
      entry = now;
      const isRunning = now.outcome === null && now.startedAt !== null;
      const word = now.outcome ?? (isRunning ? "running" : "waiting");
      at.show(now.at, "–");
      setText(outcome, outcomeText(word));
      setAttribute(outcome, "class", `outcome ${word}`);
      deadLetter.hidden = !now.deadLetter;
      setText(duration, now.durationMs === null ? "–" : durationText(now.durationMs));
      setText(why, whyText(now));
    },
    tick: (now) => at.tick(now),
  };
}

function detailsRow(entry: HistoryEntry): PageElement {
  const cell = cellOf("td", triggerDetails(entry));
  cell.colSpan = columnCount;
  const row = create("tr", "details-row");
  row.append(cell);
  return row;
}

function agentLink({ agent, instanceId }: HistoryEntry): PageElement {
  if (agent === null) return create("span", "muted", "none");
  const path = `/dashboard/agents/${encodeURIComponent(agent)}`;
  const link = create("a", "", agent);
  link.href = path;
  if (instanceId === null) return link;
  const both = create("span");
  const log = create("a", "run-log", "log");
  log.href = `${path}/logs?instance=${encodeURIComponent(instanceId)}`;
  log.setAttribute("aria-label", `Log of the run ${instanceId}`);
  both.append(link, " ", log);
  return both;
}
