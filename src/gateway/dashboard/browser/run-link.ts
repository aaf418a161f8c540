import type { HistoryEntry } from "../../../contracts/history.ts";
import { create } from "./dom.ts";

/** A link to the log of one run. `text` is the run's own name when absent. */
export function runLink(agent: string, instanceId: string, text = instanceId): HTMLElement {
  const link = create("a", "run-link", text);
  link.href = `/dashboard/agents/${encodeURIComponent(agent)}/logs?instance=${encodeURIComponent(instanceId)}`;
  if (text !== instanceId) link.setAttribute("aria-label", `Log of the run ${instanceId}`);
  return link;
}

/** A link to the log of an entry's run. There is none while the entry is queued: its run has no name yet. */
export interface LogLink {
  readonly element: HTMLElement;
  show(entry: HistoryEntry): void;
}

/** Makes it, without a link yet. */
export function createLogLink(): LogLink {
  const element = create("span", "run-log");
  let shown: string | null = null;
  return {
    element,
    show: ({ agent, instanceId }) => {
      if (instanceId === shown || instanceId === null || agent === null) return;
      shown = instanceId;
      element.replaceChildren(runLink(agent, instanceId, "log"));
    },
  };
}
