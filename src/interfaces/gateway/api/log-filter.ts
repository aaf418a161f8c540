import { z } from "zod";
import type { LogFilter } from "../../../foundation/contracts/log-filter.ts";
import { logLevelNames, logLevels } from "../../../foundation/contracts/log-page.ts";

/** What of a log is wanted; the log stream takes the same. */
export const logFilterQuery = z.object({
  instance: z.string().max(200).optional().meta({ description: "Only lines of this run" }),
  q: z.string().max(1000).default("").meta({
    description: "Only lines with this text, in any case",
  }),
  level: z
    .enum(logLevelNames)
    .default("debug")
    .meta({ description: "Only lines of this level and above" }),
});

/** The filter that a query asks for. */
export function filterOf({ q, level }: z.infer<typeof logFilterQuery>): LogFilter {
  return { text: q, level: logLevels[level] };
}
