import { z } from "zod";

/** A scheduled run, or the first of some that calendars leave out. */
export const upcomingRunSchema = z
  .object({
    agent: z.string(),
    schedule: z.string().meta({ description: "Its name; empty for `schedule`" }),
    at: z.iso.datetime(),
    timezone: z.string().meta({ description: "Of the schedule" }),
    leftOut: z
      .object({
        why: z.string().meta({ description: "The calendar, and its event or time" }),
        until: z.iso.datetime(),
        count: z.int().meta({ description: "How many runs are left out up to `until`" }),
      })
      .nullable()
      .meta({ description: "Null for a run" }),
  })
  .meta({ id: "UpcomingRun" });
export type UpcomingRun = z.infer<typeof upcomingRunSchema>;

export const upcomingRunsSchema = z.array(upcomingRunSchema).readonly();
