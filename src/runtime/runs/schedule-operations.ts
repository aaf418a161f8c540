import { z } from "zod";
import { upcomingRuns } from "../../foundation/config/upcoming-runs.ts";
import { agentParams } from "../../foundation/contracts/params.ts";
import { upcomingRunsSchema } from "../../foundation/contracts/upcoming-run.ts";
import { operationsOf } from "../../foundation/operation.ts";
import type { StoredRunContext } from "./run-context.ts";

const { read } = operationsOf<StoredRunContext>("Status");

const maxDays = 366;

export const showSchedule = read("/api/agents/:name/schedule", {
  summary: "The next runs of an agent's schedules",
  description:
    "The next ten runs; with `days` those of so many days, at most 200. Runs that calendars leave out are among them, in " +
    "one row for each reason and time. `now` is what keeps the agent from running now, in sentences.",
  params: agentParams,
  input: z.object({ days: z.coerce.number().int().min(1).max(maxDays).optional() }),
  output: z.object({ next: upcomingRunsSchema, now: z.array(z.string()).readonly() }),
  changedBy: ["agents"],
  problems: [404, 503],
  perform: async ({ name, days }, context) => {
    const { agent, now } = await context.agentNow(name);
    const { calendars } = await context.planned();
    const ahead = { calendars, now: Date.now(), days };
    return { next: agent.config === null ? [] : upcomingRuns(agent.config, ahead), now };
  },
});

export const listSchedules = read("/api/schedules", {
  summary: "The next scheduled run of each agent",
  output: z.object({ next: upcomingRunsSchema }),
  changedBy: ["agents"],
  problems: [503],
  isAbout: () => true,
  perform: async (_input, context, { isMine }) => {
    const { agents, calendars } = await context.planned();
    const ahead = { calendars, now: Date.now(), most: 1 };
    const rows = [...agents].flatMap(({ name, config }) =>
      config === null || isMine?.(name) === false ? [] : upcomingRuns(config, ahead),
    );
    return { next: rows.sort((a, b) => a.at.localeCompare(b.at)) };
  },
});
