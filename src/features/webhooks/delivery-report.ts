import { z } from "zod";
import { nullableText, pageSize, since } from "../../foundation/contracts/wire-fields.ts";
import { historyEntrySchema } from "../../foundation/contracts/history.ts";

/** Why a delivery was not accepted; pings and unmatched deliveries are accepted. */
const deliveryRefusals = [
  "unverified",
  "duplicate",
  "malformed",
  "not_found",
  "unavailable",
] as const;
export type DeliveryRefusal = (typeof deliveryRefusals)[number];

/** A delivery that is not stored. */
export interface RefusedDelivery {
  /** The provider's type, or `unknown`. */
  readonly type: string;
  /** Null if the address is not that of a single source. */
  readonly source: string | null;
  readonly result: DeliveryRefusal;
  /** For the operator: holds nothing that the sender wrote. */
  readonly reason: string;
}

/** How long deliveries that were refused for the same reason are one row, in ms. */
export const refusedTogetherMs = 600_000;

/** Deliveries of one source that were refused for the same reason within ten minutes; times ISO 8601 UTC. */
const refusedDeliveriesSchema = z
  .object({
    type: z.string().meta({ description: "The provider's type, or `unknown`" }),
    source: nullableText.meta({ description: "Null if the address does not name one source" }),
    result: z.enum(deliveryRefusals),
    count: z.int(),
    firstAt: z.iso.datetime(),
    lastAt: z.iso.datetime(),
    reason: z.string().meta({ description: "Reason of the last one, for the operator" }),
  })
  .meta({ id: "RefusedDeliveries" });
export type RefusedDeliveries = z.infer<typeof refusedDeliveriesSchema>;

export const refusedDeliveriesAnswer = z.object({ deliveries: z.array(refusedDeliveriesSchema) });
export type RefusedDeliveriesAnswer = z.infer<typeof refusedDeliveriesAnswer>;

/** Query of `GET /api/stats/refused-deliveries`. */
export const refusedDeliveriesQuerySchema = z.object({
  source: z.string().optional(),
  since,
  limit: pageSize(200, 50),
});
export type RefusedDeliveriesQuery = z.infer<typeof refusedDeliveriesQuerySchema>;

/** A condition of a `[[webhooks]]` entry that a delivery fails; the values as short texts. */
const mismatchSchema = z.object({
  condition: z.string().meta({ description: "A filter, or `where` with a path" }),
  wanted: z.string(),
  got: z.string(),
});
export type Mismatch = z.infer<typeof mismatchSchema>;

/** A stored delivery of a source that an agent listens to, which was not work for it. */
const turnedAwaySchema = z
  .object({
    receiptId: z.string(),
    at: z.iso.datetime(),
    source: z.string(),
    event: z.string(),
    action: nullableText,
    stoppedBy: z.array(z.array(mismatchSchema)).meta({
      description:
        "With the agent's current config: for each `[[webhooks]]` entry of the source, the conditions that exclude it; empty if an entry accepts it now",
    }),
  })
  .meta({ id: "TurnedAway" });
export type TurnedAway = z.infer<typeof turnedAwaySchema>;

/** Runs of a schedule that were due while no run of it could be. */
const missedSpanSchema = z
  .object({
    schedule: z.string().meta({ description: "Its name; empty for the one without a name" }),
    since: z.iso.datetime(),
    until: z.iso.datetime().nullable().meta({ description: "Null while it lasts" }),
    firstAt: z.iso.datetime().meta({ description: "The first due time in it" }),
    count: z.int().meta({ description: "How many due times in it did not start, also not later" }),
    reason: z.string(),
  })
  .meta({ id: "MissedSpan" });
export type MissedSpan = z.infer<typeof missedSpanSchema>;

/** Why an agent did not run. */
export const whyNotSchema = z
  .object({
    now: z.array(z.string()).meta({ description: "Why it can't run now, in sentences" }),
    refused: z.array(historyEntrySchema).meta({
      description:
        "Its work that started no run, and runs that newer work of their key ended, newest first",
    }),
    spans: z.array(missedSpanSchema).meta({
      description:
        "Times in which its schedules were paused or it was disabled, the oldest first, each with the runs that were due by its schedules as they are now",
    }),
    turnedAway: z.array(turnedAwaySchema).meta({
      description: "Deliveries that its filters excluded, newest first",
    }),
    lookedBackTo: z.iso.datetime().nullable().meta({
      description: "Older deliveries were not checked; null if all stored ones were",
    }),
    refusedDeliveries: z.array(refusedDeliveriesSchema).meta({
      description: "Deliveries of its sources that were refused before any filter",
    }),
  })
  .meta({ id: "WhyNot" });
export type WhyNot = z.infer<typeof whyNotSchema>;

/** Query of `GET /api/agents/<name>/why-not`. */
export const whyNotQuerySchema = z.object({
  since,
  limit: pageSize(200, 50),
});
export type WhyNotQuery = z.infer<typeof whyNotQuerySchema>;
