import { refusalOutcomes } from "../../../streams/outcomes.ts";
import { z } from "zod";
import type { UpcomingRun } from "./upcoming-run.ts";
import { nullableText } from "./wire-fields.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Failing } from "./history.ts";

/** A resource that a run holds exclusively; times ISO 8601 UTC. */
export const lockSchema = z
  .object({
    resource: z.string(),
    agent: z.string(),
    instanceId: z.string(),
    heldSince: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: "Lock" });
export type Lock = z.infer<typeof lockSchema>;

/** A stored webhook delivery as a person may see it: signatures were never stored, secrets are redacted. */
export const receiptViewSchema = z
  .object({
    receiptId: z.string(),
    at: z.iso.datetime(),
    source: z.string(),
    type: z.string().meta({ description: "The provider's type" }),
    deliveryId: nullableText.meta({ description: "The provider's ID of the delivery" }),
    headers: z.record(z.string(), z.string()),
    matched: z.array(z.string()).meta({ description: "The agents that it started work for" }),
    reason: nullableText.meta({
      description: "Why it started no agent, or which disabled agents it did not start",
    }),
    bytes: z.int().meta({ description: "Size of the received body" }),
    payload: z.unknown().meta({ description: "The body's JSON; null if it is not JSON" }),
    text: nullableText.meta({ description: "The body as text when `payload` is null" }),
  })
  .meta({ id: "Receipt" });
export type ReceiptView = z.infer<typeof receiptViewSchema>;

/** The result of a replay for one agent. */
const replayedSchema = z.object({
  agent: z.string(),
  outcome: z.enum(["started", "queued", ...refusalOutcomes]).meta({
    description: "`started` and `queued` continue; the others are ends, as in the history",
  }),
  instanceId: z.string().optional().meta({ description: "The run, if it started immediately" }),
  triggerId: z.string().meta({ description: "Its entry in the trigger history" }),
  replayOf: nullableText.meta({
    description: "The entry that it replays; null if the delivery has none",
  }),
  reason: z.string().optional().meta({ description: "Why it won't run" }),
});
export type Replayed = z.infer<typeof replayedSchema>;

/** The answer to a replay. */
export const replayResultSchema = z
  .object({
    receiptId: nullableText.meta({
      description: "The delivery; null for work without a webhook",
    }),
    replayId: z.string(),
    matched: z.array(replayedSchema),
    reason: nullableText.meta({ description: "Why no agent matched; null when one did" }),
  })
  .meta({ id: "ReplayResult" });
export type ReplayResult = z.infer<typeof replayResultSchema>;

/** Body of `POST /api/webhooks/replay-unmatched`. */
export const replayUnmatchedSchema = z.strictObject({
  since: z.iso.datetime({ offset: true }).meta({ description: "Only deliveries since then" }),
  source: z.string().optional().meta({ description: "Only of this webhook source" }),
  dryRun: z.boolean().optional().meta({ description: "Only list them" }),
  after: z.string().max(200).optional().meta({ description: "The `next` of an earlier answer" }),
});
export type ReplayUnmatched = z.infer<typeof replayUnmatchedSchema>;

const unmatchedDeliverySchema = z.object({
  receiptId: z.string(),
  at: z.iso.datetime(),
  source: z.string(),
  event: z.string(),
  action: nullableText,
  agents: z.array(z.string()).meta({ description: "The agents that it gives work now" }),
});
export type UnmatchedDelivery = z.infer<typeof unmatchedDeliverySchema>;

/** The answer to a replay of unmatched deliveries, one page of them. */
export const unmatchedReplaySchema = z
  .object({
    deliveries: z.array(unmatchedDeliverySchema),
    next: nullableText.meta({
      description: "Send it as `after` for the next deliveries; null after the last one",
    }),
    fullQueue: nullableText.meta({
      description: "An agent whose queue has no room for the next delivery; ask again later",
    }),
  })
  .meta({ id: "UnmatchedReplay" });
export type UnmatchedReplay = z.infer<typeof unmatchedReplaySchema>;

/** A link that logs a browser in, once. */
export const loginLinkSchema = z
  .object({
    url: z.string().meta({ description: "Its path contains the token" }),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: "LoginLink" });
export type LoginLink = z.infer<typeof loginLinkSchema>;

/** One line of an agent's config. */
export interface AgentFact {
  readonly label: string;
  readonly values: readonly string[];
}

/** An agent in full. */
export interface AgentAnswer {
  /** The active config; null until there was a valid one. */
  readonly config: AgentConfig | null;
  /** At most ten next scheduled runs, ISO 8601 UTC. */
  readonly nextTicks: readonly string[];
  /** The same, with the runs that calendars leave out. */
  readonly next: readonly UpcomingRun[];
  /** Null while its latest run succeeded. */
  readonly failing: Failing | null;
  /** The schedule in words; null without one. */
  readonly scheduleText: string | null;
  /** The config as lines for people. */
  readonly facts: readonly AgentFact[];
}
