import { z } from "zod";
import { isoTime } from "../../../streams/iso-times.ts";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";
import { runMemorySchema } from "../../features/memory/memory-views.ts";
import { auditSchema } from "../../features/people/audit-report.ts";
import { failingSchema, historyEntrySchema } from "../../foundation/contracts/history.ts";
import { questionSchema, personSchema } from "../../foundation/contracts/question-views.ts";
import { inboxKinds, type InboxMessage } from "../../foundation/contracts/questions.ts";
import { runHostSchema } from "../../foundation/contracts/run-hosts.ts";

/** The agent's version of a run. */
export const runVersionSchema = z
  .object({
    hash: z.string().meta({
      description: "Hash of the config and instructions; equal hashes mean equal content",
    }),
    commit: nullableText.meta({
      description: "`HEAD` of the project's git repository; null without a repository",
    }),
    dirty: z.boolean().nullable().meta({
      description: "Whether the project had uncommitted changes; null without a commit",
    }),
  })
  .meta({ id: "RunVersion" });
export type RunVersionView = z.infer<typeof runVersionSchema>;

/** A message of a person about a run. */
export const inboxMessageSchema = z
  .object({
    seq: z.int(),
    at: z.iso.datetime(),
    kind: z.enum(inboxKinds).meta({
      description:
        "`steer` for the model, `delivery` of a webhook for the model, `stop` after the turn, `continue` in another run",
    }),
    text: z.string(),
    by: personSchema,
    receivedAt: z.iso
      .datetime()
      .nullable()
      .meta({ description: "Null until the run has received it" }),
    continuedBy: nullableText.meta({ description: "The run that a `continue` started" }),
  })
  .meta({ id: "InboxMessage" });
export type InboxView = z.infer<typeof inboxMessageSchema>;

export function inboxView({ seq, at, kind, text, by, ...rest }: InboxMessage): InboxView {
  const receivedAt = isoTime(rest.receivedAt);
  return { seq, at: isoTime(at), kind, text, by, receivedAt, continuedBy: rest.continuedBy };
}

/** Runs that continue one session. */
const threadSchema = z
  .object({
    key: z.string().meta({ description: "The session key" }),
    runs: z
      .array(
        z.object({
          instanceId: z.string(),
          at: z.iso.datetime(),
          outcome: nullableText.meta({ description: "Null while it is live" }),
        }),
      )
      .meta({ description: "Newest first, at most 20" }),
  })
  .meta({ id: "Thread" });

/** Calls to models, as the scheduler counted them. */
const runSpendSchema = z
  .object({
    usd: z.number().meta({ description: "Excludes reservations of open calls" }),
    subscriptionUsd: z
      .number()
      .meta({ description: "What calls paid by a subscription would have cost" }),
    calls: z.int(),
    tokens: z.number(),
    unpriced: z.int().meta({ description: "Calls whose price is not known" }),
    estimated: z
      .int()
      .meta({ description: "Calls whose tokens are estimated, or that cost their reservation" }),
  })
  .meta({ id: "RunSpend" });

const receivedCallSchema = z.object({
  callId: z.string(),
  caller: nullableText.meta({ description: "The agent that called" }),
  callerInstance: nullableText,
  context: nullableText.meta({ description: "What the call asks for" }),
});

/** The fields of a run that its history entry holds. */
export const runEntrySchema = historyEntrySchema.omit({
  calls: true,
  version: true,
  caller: true,
  callId: true,
});

/** A run in full: its history entry with its agent, calls, result and version. */
export const runSchema = runEntrySchema
  .extend({
    agent: z.string(),
    instanceId: z.string(),
    value: z
      .unknown()
      .meta({ description: "The complete value that the run returned; null for none" }),
    lastWords: nullableText.meta({ description: "The model's last text in the log" }),
    prompt: nullableText.meta({ description: "A person's instructions for this run" }),
    modelPrompt: nullableText.optional().meta({
      description:
        "The model's input, from the log; null if the log does not have it. Only with `modelPrompt=true`",
    }),
    warnings: z.array(z.string()).optional().meta({
      description: "The first warnings and errors in its log. Only with `warnings=true`",
    }),
    payload: nullableText.meta({
      description:
        "The webhook delivery's body as text, its first 20,000 characters; null for others and when it is not stored",
    }),
    gathered: z.exactOptional(z.array(z.string()).readonly()).meta({
      description:
        "The receipts of gathered deliveries, in order, of which the run has the latest or all; absent for others",
    }),
    scheduledFor: nullableText.meta({ description: "When a scheduled run was due" }),
    late: nullableText.meta({
      description: "How late a scheduled run started that waited for a project slot, and why",
    }),
    spend: runSpendSchema,
    version: runVersionSchema
      .nullable()
      .meta({ description: "Null for a run of an earlier version of the program" }),
    lastSuccess: z
      .object({
        instanceId: z.string(),
        changed: z.boolean().nullable().meta({
          description: "Whether it ran another version; null if one of the two is unknown",
        }),
      })
      .nullable()
      .meta({ description: "The agent's last run before it that succeeded" }),
    failing: failingSchema.nullable().meta({ description: "Null if it did not fail" }),
    messages: z.array(inboxMessageSchema).meta({ description: "Messages of people, oldest first" }),
    noInput: z.object({ steer: nullableText, stop: nullableText }).optional().meta({
      description: "Why it accepts no messages; only for a run that has not ended",
    }),
    isKept: z.boolean().meta({ description: "Whether its session is kept: it can be continued" }),
    continues: nullableText.meta({ description: "The run whose session it continues" }),
    continuedBy: z.array(z.string()).meta({ description: "The runs that continue its session" }),
    thread: threadSchema.nullable().meta({ description: "Null for a run without a session key" }),
    hosts: z.array(runHostSchema).meta({
      description:
        "Hosts that it requested, without its models: denied ones first, at most 200 of them and 200 others",
    }),
    memory: runMemorySchema.meta({
      description: "What it changed in memories, what it proposed, and what was not kept",
    }),
    questions: z.array(questionSchema).meta({ description: "Questions to people, oldest first" }),
    acts: auditSchema.shape.entries.meta({ description: "Acts of people, the latest 5" }),
    calls: z.object({
      received: receivedCallSchema.nullable(),
      made: z.array(historyEntrySchema).meta({ description: "Oldest first, at most 500" }),
    }),
  })
  .meta({ id: "Run" });
export type RunView = z.infer<typeof runSchema>;

const comparedSchema = z.object({ instanceId: z.string(), version: runVersionSchema });

/** The changes from one run's version to a later run's. */
export const runDifferenceSchema = z
  .object({
    from: comparedSchema.meta({ description: "The run that started first" }),
    to: comparedSchema,
    changed: z.boolean(),
    text: z.string().meta({
      description: "Unified diff of config and instructions; empty if both runs ran the same",
    }),
  })
  .meta({ id: "RunDifference" });
export type RunDifference = z.infer<typeof runDifferenceSchema>;
