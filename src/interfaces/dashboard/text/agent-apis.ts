import { withQuery } from "./addresses.ts";

/** Begins the addresses of an agent's own API. */
export function agentApi(agent: string): string {
  return `/api/agents/${encodeURIComponent(agent)}`;
}

/** The charts show more runs than the table. */
const chartedRuns = 30;

/** The address of the API for its last runs. */
export function runsPath(agent: string): string {
  return withQuery("/api/stats/triggers", { agent, limit: chartedRuns });
}

/** For how many days the reasons are shown why an agent did not run. */
export const whyDays = 7;
const dayMs = 86_400_000;
/** How many reasons of each kind are read: deliveries are compared with the agent's filters anew. */
const mostReasons = 60;

/** The address of the API for the reasons why it did not run. */
export function whyPath(agent: string, now: number): string {
  const since = new Date(now - whyDays * dayMs).toISOString();
  return withQuery(`${agentApi(agent)}/why-not`, { since, limit: mostReasons });
}
