import { z } from "zod";
import { isoTime } from "../../../../streams/iso-times.ts";
import { logEntrySchema } from "../../../../streams/status/wire.ts";
import { searchMatchSchema, searchQuerySchema } from "../../../features/search/search-report.ts";
import { searchRunSchema } from "../../../features/search/search-report.ts";
import { Problem } from "../../../foundation/errors.ts";
import { agentOf } from "../../../foundation/logs/log-reader.ts";
import { logLevelNames, logLevels, type LogPageAnswer } from "../../views/log-page.ts";
import { fittingPage } from "../bounded.ts";
import { cursor, labelled, limitOf, next, optionalText, readsOnly, tool } from "../tool.ts";

const logRow = labelled(
  logEntrySchema.extend({
    position: z.string().meta({ description: "The position after this line" }),
    at: z.string(),
    level: z.enum(logLevelNames),
    kind: z.unknown(),
    fields: optionalText.meta({ description: "All other fields of the line, as JSON" }),
  }),
  ["position", "at", "level", "instanceId"],
  ["msg", "fields"],
);

function logLine({ position, entry }: LogPageAnswer["lines"][number]) {
  const { level, time, msg, instanceId, ...others } = entry;
  const names = logLevelNames.filter((name) => level >= logLevels[name]);
  const fields = Object.keys(others).length === 0 ? null : JSON.stringify(others);
  const known = { position, at: isoTime(time), level: names.at(-1) ?? "debug", instanceId };
  return logRow.of({ ...known, msg, fields });
}

type Places = Readonly<Record<"before" | "after", string | undefined>>;

export const log = tool({
  title: "Read a log",
  description:
    "The last lines of an agent's log, or of one run; earlier and later ones with `before` and `after`, or the lines around a position from search.",
  annotations: readsOnly,
  input: z.object({
    agent: z.string().min(1).optional().meta({
      description: "An agent, or `scheduler`; not needed with `instanceId`",
    }),
    instanceId: z.string().min(1).optional().meta({ description: "Only lines of this run" }),
    q: z.string().optional().meta({ description: "Only lines with this text, ignoring case" }),
    level: z.enum(logLevelNames).default("info"),
    limit: limitOf(50),
    around: z.string().optional().meta({ description: "A position: the lines on both sides" }),
    before: z.string().optional().meta({ description: "The `older` of an earlier answer" }),
    after: z.string().optional().meta({ description: "The `newer` of an earlier answer" }),
  }),
  output: z.object({ lines: z.array(logRow.schema), older: optionalText, newer: optionalText }),
  run: async ({ agent: named, instanceId, around, before, after, limit, ...filter }, api) => {
    const name = named ?? agentOf(instanceId ?? null);
    if (name === null) throw new Problem("malformed", "Name an agent or a run.");
    const read = (places: Partial<Places>, most: number): Promise<LogPageAnswer> =>
      api.perform("GET /api/logs/agents/:name", {
        name,
        ...filter,
        ...places,
        instance: instanceId,
        limit: Math.max(1, Math.floor(most)),
      });
    const bothSides = async (most: number) => {
      const [first, second] = [
        await read({ before: around }, most / 2),
        await read({ after: around }, most / 2),
      ];
      return { lines: [...first.lines, ...second.lines], older: first.older, newer: second.newer };
    };
    const { rows, ...rest } = await fittingPage(limit, async (most) => {
      const page = await (around === undefined ? read({ before, after }, most) : bothSides(most));
      return { rows: page.lines.map(logLine), older: page.older, newer: page.newer };
    });
    return { lines: rows, ...rest };
  },
});

const searchRow = labelled(
  searchRunSchema.extend({ matches: z.array(searchMatchSchema.omit({ ranges: true })) }),
  ["instanceId", "agent", "at", "outcome", "usd", "count"],
  ["matches"],
);

export const search = tool({
  title: "Search the logs",
  description:
    "Runs with log lines that have all the words, newest first, each with its first matches. The position of a match is for `around` of log.",
  annotations: readsOnly,
  input: searchQuerySchema.omit({ before: true }).extend({ limit: limitOf(10), cursor }),
  output: z.object({ runs: z.array(searchRow.schema), next }),
  run: async ({ cursor: before, limit, ...query }, api) => {
    const { rows, ...rest } = await fittingPage(limit, async (most) => {
      const page = await api.perform("GET /api/search", { ...query, before, limit: most });
      return { rows: page.runs.map(searchRow.of), next: page.next };
    });
    return { runs: rows, ...rest };
  },
});
