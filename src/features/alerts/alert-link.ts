import type { Alert } from "../../foundation/contracts/alert.ts";

/** The page of the dashboard that shows what an alert is about, and has what a person does next; null without an address of the dashboard. */
export function alertLink(
  base: string | null,
  alert: Pick<Alert, "topic" | "agent" | "instanceId">,
): string | null {
  if (base === null) return null;
  return new URL(pathOf(alert), base.endsWith("/") ? base : `${base}/`).href;
}

function pathOf({ topic, agent, instanceId }: Parameters<typeof alertLink>[1]): string {
  if (topic === "budget") return "dashboard/cost";
  if (agent === null) return "dashboard/alerts";
  if (topic === "dead_letters") {
    return `dashboard/triggers?agent=${encodeURIComponent(agent)}&dead=true`;
  }
  const page = `dashboard/agents/${encodeURIComponent(agent)}`;
  return instanceId === null ? page : `${page}/runs/${encodeURIComponent(instanceId)}`;
}
