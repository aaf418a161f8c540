import { outcomes } from "../../../streams/outcomes.ts";
import { z } from "zod";
import { nullableText, pageSize, since } from "../../foundation/contracts/wire-fields.ts";
import { searchKinds } from "./search-kinds.ts";

/** Query of `GET /api/search`. */
export const searchQuerySchema = z.object({
  q: z.string().max(400).meta({
    description:
      'Words, all of which a line must have; `"…"` is a phrase, and a word with `*` at its end a beginning',
  }),
  agent: z.string().max(200).optional(),
  instance: z.string().max(200).optional().meta({ description: "Only lines of this run" }),
  outcome: z.enum(outcomes).optional().meta({ description: "Only runs with this outcome" }),
  since: since.meta({ description: "ISO 8601 date-time" }),
  kind: z
    .enum(searchKinds)
    .optional()
    .meta({ description: "`error`: lines that report one. Default: all but prompts" }),
  order: z.enum(["newest", "oldest"]).default("newest"),
  before: z.string().max(200).optional().meta({ description: "The `next` of an earlier page" }),
  limit: pageSize(100, 20).meta({ description: "How many runs at most" }),
});
export type SearchQuery = z.infer<typeof searchQuerySchema>;

/** A line that matches. */
export const searchMatchSchema = z
  .object({
    position: z.string().meta({
      description:
        "Position after the line, `<log file>:<byte offset>`, like the ID of an event `log`",
    }),
    at: z.string().meta({ description: "ISO 8601, UTC" }),
    kind: z.enum(searchKinds).exclude(["error"]),
    isError: z.boolean(),
    before: z.array(z.string()).meta({ description: "Lines of the text before it, oldest first" }),
    text: z.string().meta({ description: "The part of the line's text that matches" }),
    ranges: z
      .array(z.tuple([z.int(), z.int()]))
      .meta({ description: "What matches in `text`: from, to, in UTF-16 code units" }),
    after: z.array(z.string()),
  })
  .meta({ id: "SearchMatch" });
export type SearchMatch = z.infer<typeof searchMatchSchema>;

/** A run with lines that match, or the lines of one log file that belong to no run. */
export const searchRunSchema = z
  .object({
    instanceId: nullableText.meta({ description: "Null for lines of a day that belong to no run" }),
    agent: z.string().meta({ description: "Or `scheduler`" }),
    at: z.string().meta({ description: "Time of its first match, in the requested order" }),
    outcome: z.enum(outcomes).nullable().meta({ description: "Null while it runs" }),
    usd: z.number().nullable().meta({ description: "Null when it is not known" }),
    count: z.int().meta({ description: "How many of its lines match" }),
    matches: z.array(searchMatchSchema).meta({ description: "At most 3 of them" }),
  })
  .meta({ id: "SearchRun" });
export type SearchRun = z.infer<typeof searchRunSchema>;

const indexingSchema = z
  .object({
    percent: z.int().meta({ description: "Indexed bytes of all logs" }),
    daysDone: z.int().meta({ description: "Days that are indexed, the newest first" }),
    days: z.int(),
  })
  .meta({ id: "SearchIndexing" });
export type SearchIndexing = z.infer<typeof indexingSchema>;

export const searchPageSchema = z
  .object({
    runs: z.array(searchRunSchema),
    next: nullableText.meta({
      description:
        "`before` of the next page; null at the end. A page may be short, or empty, and still have a next one",
    }),
    indexedUntil: nullableText.meta({
      description: "ISO 8601: lines after it are not found yet; null until all was indexed once",
    }),
    indexing: indexingSchema.nullable().meta({
      description: "How far the logs are indexed for the first time; null once they are",
    }),
  })
  .meta({ id: "SearchPage" });
export type SearchPage = z.infer<typeof searchPageSchema>;
