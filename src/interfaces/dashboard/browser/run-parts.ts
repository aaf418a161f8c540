import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { durationText, outcomeText } from "../../../foundation/contracts/format.ts";
import { agentAddress, runAddress } from "./addresses.ts";
import { create, createLink, setAttribute, setText } from "./dom.ts";
import { stateWord } from "../../../foundation/contracts/state-word.ts";
import { runningSince, stateOf, triggerWords } from "./trigger-words.ts";

/** A link to the page of a run. `text` is the run's own name when absent. */
export function runLink(agent: string, instanceId: string, text = instanceId): HTMLElement {
  const link = createLink(runAddress(agent, instanceId), "run-link", text);
  if (text !== instanceId) link.setAttribute("aria-label", `Run ${instanceId}`);
  return link;
}

/** A link to the page of an entry's run. There is none while the entry is queued: its run has no name yet. */
export interface EntryRunLink {
  readonly element: HTMLElement;
  show(entry: HistoryEntry): void;
}

/** Makes it, without a link yet. */
export function createRunLink(): EntryRunLink {
  const element = create("span", "entry-run");
  let shown: string | null = null;
  return {
    element,
    show: ({ agent, instanceId }) => {
      if (instanceId === shown || instanceId === null || agent === null) return;
      shown = instanceId;
      element.replaceChildren(runLink(agent, instanceId, "run"));
    },
  };
}

/** A link to an agent's page; a long name is cut. */
export function agentLink(agent: string | null): HTMLElement {
  if (agent === null) return create("span", "muted", "none");
  const link = createLink(agentAddress(agent), "cut-name", agent);
  link.title = agent;
  return link;
}

/** What started a run; a call leads to the run that made it. */
export function triggerLabel(entry: HistoryEntry): HTMLElement {
  const { kind, source, caller, replayOf } = entry;
  if (kind !== "agent-call" || source === null || caller === null) {
    return create("span", "", triggerWords(entry));
  }
  const call = ["call from ", runLink(source, caller)];
  return create("span", "caller", ...call, replayOf === null ? "" : " (replay)");
}

/** How an entry stands or ended, and how long its run took, or has taken so far. */
export interface RunState {
  readonly outcome: HTMLElement;
  readonly duration: HTMLElement;
  show(entry: HistoryEntry): void;
  tick(now: number): void;
}

/** Makes its elements, still empty. */
export function createRunState(): RunState {
  const outcome = create("span");
  const duration = create("span", "number");
  let since: string | null = null;
  const tick = (now: number): void => {
    if (since !== null) setText(duration, durationText(Math.max(0, now - Date.parse(since))));
  };
  return {
    outcome,
    duration,
    show: (entry) => {
      setText(outcome, outcomeText(stateWord(entry)));
      setAttribute(outcome, "class", `outcome ${stateOf(entry)}`);
      since = runningSince(entry);
      setText(duration, entry.durationMs === null ? "–" : durationText(entry.durationMs));
      tick(Date.now());
    },
    tick,
  };
}

/** The row that unfolds below another. */
export function detailsRow(columns: number, content: HTMLElement): HTMLElement {
  const cell = create("td", "", content);
  cell.colSpan = columns;
  return create("tr", "details-row", cell);
}
