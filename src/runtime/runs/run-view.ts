import { z } from "zod";
import { isoTime } from "../../../streams/iso-times.ts";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";
import { auditSchema } from "../../features/people/audit-report.ts";
import { failingSchema, historyEntrySchema } from "../../foundation/contracts/history.ts";
import { questionSchema, personSchema } from "../../foundation/contracts/question-views.ts";
import { inboxKinds, type InboxMessage } from "../../foundation/contracts/questions.ts";
import { runHostSchema } from "../../foundation/contracts/run-hosts.ts";

/** The agent's version of a run. */
export const runVersionSchema = z
  .object({
    hash: z.string().meta({
      description: "Of the config and instructions: the same for runs that ran the same",
    }),
    commit: nullableText.meta({
      description: "`HEAD` of the git repository that the project is in; null without one",
    }),
    dirty: z.boolean().nullable().meta({
      description: "Whether the project had changes that were not committed; null without a commit",
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
      description: "`steer` for the model, `stop` after the turn, `continue` in another run",
    }),
    text: z.string(),
    by: personSchema,
    receivedAt: z.iso.datetime().nullable().meta({ description: "Null until the run has it" }),
    continuedBy: nullableText.meta({ description: "The run that a `continue` started" }),
  })
  .meta({ id: "InboxMessage" });
export type InboxView = z.infer<typeof inboxMessageSchema>;

export function inboxView({ seq, at, kind, text, by, ...rest }: InboxMessage): InboxView {
  const receivedAt = isoTime(rest.receivedAt);
  return { seq, at: isoTime(at), kind, text, by, receivedAt, continuedBy: rest.continuedBy };
}

/** Calls to models, as the scheduler counted them. */
const runSpendSchema = z
  .object({
    usd: z.number().meta({ description: "Without what open calls reserved" }),
    subscriptionUsd: z
      .number()
      .meta({ description: "What calls would have cost that a subscription paid" }),
    calls: z.int(),
    tokens: z.number(),
    unpriced: z.int().meta({ description: "Calls whose price is not known" }),
    estimated: z
      .int()
      .meta({ description: "Calls whose tokens were worked out, or that count as reserved" }),
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
    value: z.unknown().meta({ description: "What the run returned, whole; null for nothing" }),
    lastWords: nullableText.meta({ description: "The model's last text in the log" }),
    prompt: nullableText.meta({ description: "Of a person, for this run" }),
    modelPrompt: nullableText.optional().meta({
      description:
        "What the model was given, of the log; null if the log does not have it. Only with `modelPrompt=true`",
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
    scheduledFor: nullableText.meta({ description: "The tick of a scheduled run" }),
    late: nullableText.meta({
      description: "How late a tick started that waited for a slot of the project, and why",
    }),
    spend: runSpendSchema,
    version: runVersionSchema
      .nullable()
      .meta({ description: "Null for a run of an earlier version of the program" }),
    lastSuccess: z
      .object({
        instanceId: z.string(),
        changed: z.boolean().nullable().meta({
          description: "Whether it ran another version; null where one of both is not known",
        }),
      })
      .nullable()
      .meta({ description: "The agent's last run before it that succeeded" }),
    failing: failingSchema.nullable().meta({ description: "Null if it did not fail" }),
    messages: z.array(inboxMessageSchema).meta({ description: "Of people, the first one first" }),
    noInput: z.object({ steer: nullableText, stop: nullableText }).optional().meta({
      description: "Why it refuses messages while it works; only of a run that has not ended",
    }),
    isKept: z.boolean().meta({ description: "Whether its session is kept: it can be continued" }),
    continues: nullableText.meta({ description: "The run whose session it continues" }),
    continuedBy: z.array(z.string()).meta({ description: "The runs that continue its session" }),
    hosts: z.array(runHostSchema).meta({
      description:
        "Hosts that it asked for beside its models: denied ones first, at most 200 of them and 200 others",
    }),
    questions: z.array(questionSchema).meta({ description: "To people, the first one first" }),
    acts: auditSchema.shape.entries.meta({ description: "Of people, the latest 5" }),
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
      description: "Unified difference of config and instructions; empty when both ran the same",
    }),
  })
  .meta({ id: "RunDifference" });
export type RunDifference = z.infer<typeof runDifferenceSchema>;
