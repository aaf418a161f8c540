import { z } from "zod";
import type { CalendarNames, ScheduleEntry } from "../../../streams/agent-config.ts";
import { didYouMean } from "../contracts/did-you-mean.ts";
import { agentKey, factOf } from "./config-key.ts";
import { list, params, paramsValue, pattern, table, text, timezone } from "./fields.ts";
import { formatNames, formatValue } from "./format-value.ts";
import type { ProjectConfig } from "./project-config.ts";
import { dayFieldsWarning, fiveFields, scheduleProblem } from "./schedule.ts";
import type { TomlPath } from "./toml-locator.ts";
import type { Diagnostics } from "./validate.ts";

export const cronError = 'a cron expression with five fields, e.g. "0 9 * * *"';

const calendarNames = list(text(), 'a list of calendars, e.g. ["holidays"]');

const entrySchema = table({
  name: pattern(
    /^[a-z0-9][a-z0-9-]{0,31}$/,
    'up to 32 lower-case letters, digits and "-", e.g. "nightly"',
  )
    .optional()
    .meta({
      description: "Name of the schedule in the history, in logs and in `al schedule`.",
      fallback: 'its place in the list: "1", "2", …',
    }),
  cron: z.string({ error: cronError }).describe("When the agent runs, as in `schedule`."),
  timezone: timezone()
    .optional()
    .meta({ description: "Time zone of this schedule.", fallback: "the agent's `timezone`" }),
  prompt: text().optional().describe("Added to the prompt of runs that this schedule starts."),
  params: params().describe("Override the agent's `params` for runs that this schedule starts."),
  calendar: z
    .strictObject(
      { skip: calendarNames.default([]), only: calendarNames.default([]) },
      { error: 'a table of calendars, e.g. { skip = ["holidays"], only = ["office-hours"] }' },
    )
    .optional()
    .describe(
      "Calendars of the project. Times within one of `skip` are left out, and times outside of all of `only`. `al schedule` shows them; they are not skipped runs.",
    ),
});

/** An agent's `[[schedules]]`. */
export const schedulesKey = agentKey({
  inFile: "schedules",
  field: list(entrySchema, "tables [[schedules]]")
    .default([])
    .describe(
      "Further schedules, beside `schedule`. `al schedule <agent>` shows the next runs of all.",
    ),
  resolve: (entries, context): readonly ScheduleEntry[] =>
    entries.map(({ name, cron, prompt, calendar, ...entry }, index) => ({
      name: name ?? String(index + 1),
      expression: fiveFields(cron),
      timezone: entry.timezone ?? context.timezone,
      prompt: prompt ?? null,
      params: entry.params,
      calendar: calendar ?? null,
    })),
  written: (entries) =>
    entries.map(({ expression: cron, ...entry }) => {
      const given = Object.entries({ cron, ...entry }).filter(([, value]) => value !== null);
      return Object.fromEntries(given);
    }),
  value: z
    .array(
      z.object({
        name: z.string(),
        expression: z.string(),
        timezone: z.string(),
        prompt: z.string().nullable(),
        params: paramsValue,
        calendar: z
          .object({ skip: z.array(z.string()).readonly(), only: z.array(z.string()).readonly() })
          .nullable(),
      }),
    )
    .readonly(),
  isLong: true,
  facts: (entries, { describe }) =>
    entries.flatMap((entry) =>
      factOf(`Schedule ${entry.name}`, scheduleFacts(entry, describe(entry.expression))),
    ),
});

/** A schedule for people; `words` is null if it can't be described. */
export function scheduleFacts(
  { expression, timezone: zone, calendar }: Omit<ScheduleEntry, "name" | "prompt" | "params">,
  words: string | null,
): readonly string[] {
  const limits = Object.entries(calendar ?? {}).flatMap(
    ([how, names]: [string, readonly string[]]) =>
      names.length === 0 ? [] : [`${how} ${names.join(", ")}`],
  );
  return [expression, ...(words === null ? [] : [words]), `time zone ${zone}`, ...limits];
}

interface CheckedTable {
  readonly schedule?: string | undefined;
  readonly schedules: readonly z.output<typeof entrySchema>[];
  readonly catchUp: string;
}

/** Reports schedules that can't be used or are easily misread, and unknown calendars. */
export function checkSchedules(
  { schedule, schedules, catchUp }: CheckedTable,
  { calendars }: ProjectConfig,
  diagnostics: Diagnostics,
): void {
  if (schedule !== undefined) checkCron(schedule, ["schedule"], diagnostics);
  const names = new Set<string>();
  for (const [index, { name = String(index + 1), cron, calendar }] of schedules.entries()) {
    checkCron(cron, ["schedules", index, "cron"], diagnostics);
    if (calendar !== undefined) checkNames(calendar, index, Object.keys(calendars), diagnostics);
    if (names.has(name)) {
      const message = `schedules[${index}] has the name of another, ${formatValue(name)}; choose another name`;
      diagnostics.error(["schedules", index], message);
    }
    names.add(name);
  }
  if (catchUp !== "none" && schedule === undefined && schedules.length === 0) {
    const message = `catchUp is ${formatValue(catchUp)}, which has no effect on an agent without a schedule; remove it`;
    diagnostics.warn(["catchUp"], message);
  }
}

function checkCron(cron: string, path: TomlPath, diagnostics: Diagnostics): void {
  const problem = scheduleProblem(cron);
  if (problem !== null) return diagnostics.error(path, problem);
  const warning = dayFieldsWarning(cron);
  if (warning !== null) diagnostics.warn(path, warning);
}

function checkNames(
  calendar: CalendarNames,
  index: number,
  known: readonly string[],
  diagnostics: Diagnostics,
): void {
  for (const use of ["skip", "only"] as const) {
    for (const [place, name] of calendar[use].entries()) {
      if (known.includes(name)) continue;
      const near = didYouMean(name, known) || `; known are ${formatNames(known)}`;
      const fix =
        known.length === 0 ? "; add [calendars.<name>] to the project's config.toml" : near;
      const message = `${formatValue(name)} is not a calendar of the project${fix}`;
      diagnostics.error(["schedules", index, "calendar", use, place], message);
    }
  }
}
