import type { Alert } from "../../streams/alerts/alert.ts";

/** The page of the dashboard that shows what an alert is about; null without an address of the dashboard. */
export function alertLink(
  base: string | null,
  { agent, instanceId }: Pick<Alert, "agent" | "instanceId">,
): string | null {
  if (base === null) return null;
  return new URL(pathOf(agent, instanceId), base.endsWith("/") ? base : `${base}/`).href;
}

function pathOf(agent: string | null, instanceId: string | null): string {
  if (agent === null) return "dashboard/alerts";
  const page = `dashboard/agents/${encodeURIComponent(agent)}`;
  return instanceId === null ? page : `${page}/logs?instance=${encodeURIComponent(instanceId)}`;
}
