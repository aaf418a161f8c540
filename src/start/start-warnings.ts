import type { LostRun } from "../store/recover.ts";

/** What an operator should know at the start although it stops nothing. */
export function startWarnings(env: NodeJS.ProcessEnv, lost: readonly LostRun[]): string[] {
  return [
    ...(env.AL_DASHBOARD_SECRET === undefined ? [] : [dashboardSecret]),
    ...lost.map(({ item, instanceId, outcome, retry }) => {
      const next = retry === null ? "it was the second try" : "its work waits once more";
      return `run ${instanceId} of agent ${item.agent} was ${outcome} when the last scheduler ended; ${next}`;
    }),
  ];
}

const dashboardSecret =
  "AL_DASHBOARD_SECRET is set and no longer used: the dashboard takes the API key; unset it";
