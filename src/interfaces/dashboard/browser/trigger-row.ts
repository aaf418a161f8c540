import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { stateWord } from "../../../foundation/contracts/state-word.ts";
import { create, createButton, setAttribute, setText } from "./dom.ts";
import { agentLink, createRunLink, createRunState, detailsRow, triggerLabel } from "./run-parts.ts";
import { createTime } from "./time-cell.ts";
import { createTriggerDetails } from "./trigger-details.ts";
import type { TriggerDetails } from "./trigger-details.ts";
import { triggerWords, whyText } from "./trigger-words.ts";
import type { View } from "./views.ts";

const columnCount = 7;

/** Makes the row of an entry. What unfolds below it is made when it is first opened. */
export function createTriggerRow(first: HistoryEntry): View<HistoryEntry> {
  let entry = first;
  let details: TriggerDetails | null = null;
  let row: HTMLElement | null = null;
  const at = createTime("past");
  const link = createRunLink();
  const state = createRunState();
  const deadLetter = create("span", "pill off", "dead letter");
  const why = create("span", "why");
  const more = createButton("link");
  const nameMore = (words: string): void => {
    setText(more, words);
    setAttribute(more, "aria-label", `${words} of the ${triggerWords(first)} of ${first.at}`);
  };
  nameMore("Details");
  const element = create(
    "tr",
    "",
    create("td", "", at.element),
    create("td", "", triggerLabel(first)),
    create("td", "", create("div", "agent-cell", agentLink(first.agent), link.element)),
    create("td", "", state.outcome, " ", deadLetter),
    create("td", "", state.duration),
    create("td", "", why),
    create("td", "", more),
  );
  element.dataset.entry = first.id;

  const setOpen = (isOpen: boolean): void => {
    setAttribute(more, "aria-expanded", String(isOpen));
    nameMore(isOpen ? "Hide" : "Details");
    if (!isOpen) return row?.remove();
    details ??= createTriggerDetails(entry);
    row ??= detailsRow(columnCount, details.element);
    element.after(row);
  };
  more.addEventListener("click", () => setOpen(more.getAttribute("aria-expanded") !== "true"));
  setAttribute(more, "aria-expanded", "false");

  return {
    elements: () => (row?.isConnected === true ? [element, row] : [element]),
    show(now) {
      entry = now;
      at.show(now.at, "–");
      link.show(now);
      state.show(now);
      deadLetter.hidden = !now.deadLetter || stateWord(now) === "unmatched";
      setText(why, whyText(now));
      if (more.getAttribute("aria-expanded") === "true") details?.show(now);
    },
    tick: (now) => {
      at.tick(now);
      state.tick(now);
    },
  };
}
