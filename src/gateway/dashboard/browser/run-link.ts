import { create } from "./dom.ts";
import type { PageElement } from "./dom.ts";

/** A link to the log of one run. `text` is the run's own name when absent. */
export function runLink(agent: string, instanceId: string, text = instanceId): PageElement {
  const link = create("a", "run-link", text);
  link.href = `/dashboard/agents/${encodeURIComponent(agent)}/logs?instance=${encodeURIComponent(instanceId)}`;
  if (text !== instanceId) link.setAttribute("aria-label", `Log of the run ${instanceId}`);
  return link;
}
