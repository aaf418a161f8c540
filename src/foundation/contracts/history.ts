import { outcomes } from "../../../streams/outcomes.ts";
import { z } from "zod";
import { nullableText, pageSize, since } from "./wire-fields.ts";
import { triggerKinds } from "../../../streams/vocabulary.ts";
import { mostFailures, shownRuns } from "./format.ts";

/** One entry of the trigger history on the wire; absent values are null, times ISO 8601 UTC. */
export const historyEntrySchema = z
  .object({
    id: z.string(),
    at: z.string(),
    kind: z.enum(triggerKinds),
    agent: nullableText,
    source: nullableText,
    event: nullableText,
    action: nullableText,
    receiptId: nullableText,
    instanceId: nullableText,
    outcome: z.enum(outcomes).nullable().meta({ description: "Null while the work waits or runs" }),
    deadLetter: z.boolean(),
    reason: nullableText,
    attempt: z.int(),
    startedAt: nullableText,
    endedAt: nullableText,
    durationMs: z.number().nullable(),
    exitCode: z.int().nullable(),
    model: nullableText,
    tokens: z.number().nullable(),
    costUsd: z.number().nullable(),
    scheduledFor: z.string().optional().meta({
      description: "The time at which a run of a schedule was due; only of those",
    }),
    callId: nullableText.meta({ description: "The call that created it" }),
    caller: nullableText.meta({ description: "The instance that called" }),
    value: z.unknown().meta({
      description: "What the run returned; a long one is cut and then text. Null for nothing",
    }),
    replayOf: nullableText.meta({
      description: "The entry that this one runs again, for a replay",
    }),
    calls: z.int().meta({ description: "How many calls its run made" }),
    version: nullableText.meta({
      description:
        "Hash of its run's config and instructions; equal hashes mean equal content. Null before a run",
    }),
  })
  .meta({ id: "HistoryEntry" });
export type HistoryEntry = z.infer<typeof historyEntrySchema>;

/** The request and the returned value of an entry in full, and the calls around it. */
export const callTreeSchema = z
  .object({
    context: nullableText.meta({
      description: "What a caller passed to the call; null for others",
    }),
    value: z
      .unknown()
      .meta({ description: "The complete value that the run returned; null for none" }),
    entries: z.array(historyEntrySchema).meta({
      description: "The entry that the tree of calls began with, and all calls in it, oldest first",
    }),
  })
  .meta({ id: "CallTree" });
export type CallTree = z.infer<typeof callTreeSchema>;

/** An agent's failed runs since its last success. */
export const failingSchema = z
  .object({
    since: z.string().meta({ description: "When the work of the first of them arrived" }),
    count: z.int().meta({ description: `At most ${mostFailures}, even if there are more` }),
    instanceId: z.string().meta({ description: "The latest of them" }),
    newest: z
      .boolean()
      .meta({ description: "False if a later run ended, except by a person or a stop" }),
    lastSuccess: z.object({ instanceId: z.string(), at: z.string() }).nullable(),
    changed: z
      .array(z.enum(["config", "instructions", "scripts"]))
      .nullable()
      .meta({ description: "What changed since the last success; null if that is not known" }),
  })
  .meta({ id: "Failing" });
export type Failing = z.infer<typeof failingSchema>;

/** The latest runs of some agents that ended, the oldest first. */
export const latestRunsSchema = z
  .object({
    agents: z.array(
      z.object({
        name: z.string(),
        runs: z
          .array(z.object({ instanceId: z.string(), outcome: z.enum(outcomes), at: z.string() }))
          .meta({ description: `At most ${shownRuns}, by when their work arrived` }),
      }),
    ),
  })
  .meta({ id: "LatestRuns" });
export type LatestRuns = z.infer<typeof latestRunsSchema>;

const endedRuns = z.int();
/** The runs of the last hours that ended, by when their work arrived; the oldest hour first, the last one is this one. */
export const hourlyRunsSchema = z
  .object({
    hours: z.array(
      z.object({
        at: z.string().meta({ description: "When the hour began" }),
        succeeded: endedRuns,
        failed: endedRuns,
        other: endedRuns.meta({ description: "Ended by a person or a stop, or partly done" }),
      }),
    ),
  })
  .meta({ id: "HourlyRuns" });
export type HourlyRuns = z.infer<typeof hourlyRunsSchema>;

/** Query of `GET /api/stats/triggers`. `page` counts from 1; `before` is a cursor from `nextBefore`. */
export const historyQuerySchema = z.object({
  page: z.coerce.number().int().min(1).default(1),
  limit: pageSize(200, 50),
  deadLetter: z
    .enum(["true", "false"])
    .transform((value) => value === "true")
    .optional(),
  agent: z.string().optional(),
  agentPart: z.string().min(1).max(200).optional().meta({
    description:
      "Only agents whose name contains this text, ignoring case; an exact match is the only result",
  }),
  id: z
    .string()
    .max(200)
    .optional()
    .meta({ description: "Only this entry, regardless of other filters" }),
  kind: z.enum(triggerKinds).optional(),
  outcome: z.enum(outcomes).optional(),
  refused: z
    .literal("true")
    .transform(() => true as const)
    .optional()
    .meta({
      description:
        "Only superseded work and work that started no run: skipped, missed, dropped, rejected",
    }),
  /** ISO 8601 date-time. */
  since,
  before: z.string().optional().meta({ description: "The `nextBefore` of an earlier page" }),
});
export type HistoryQuery = z.infer<typeof historyQuerySchema>;

export const historyPageSchema = z
  .object({
    triggers: z.array(historyEntrySchema),
    page: z.int(),
    limit: z.int(),
    total: z.int(),
    nextBefore: nullableText,
  })
  .meta({ id: "HistoryPage" });
export type HistoryPage = z.infer<typeof historyPageSchema>;
