import type { Check } from "../finding.ts";

/** Whether the variable of the former authentication is set still. */
export const dashboardSecret: Check = {
  name: "environment",
  run: ({ env }) =>
    env.AL_DASHBOARD_SECRET === undefined
      ? []
      : [
          {
            severity: "warning",
            what: "AL_DASHBOARD_SECRET is no longer used: the dashboard takes the API key",
            where: "AL_DASHBOARD_SECRET",
            fix: "unset AL_DASHBOARD_SECRET",
          },
        ],
};
