import { z } from "zod";

/** Why a delivery was not accepted; a ping and a delivery that no agent wanted were. */
export const deliveryRefusals = [
  "unverified",
  "duplicate",
  "malformed",
  "not_found",
  "unavailable",
] as const;
export type DeliveryRefusal = (typeof deliveryRefusals)[number];

/** A delivery of which nothing is stored. */
export interface RefusedDelivery {
  /** The provider's type, or `unknown`. */
  readonly type: string;
  /** Null where the address is not that of one source. */
  readonly source: string | null;
  readonly result: DeliveryRefusal;
  /** For the operator: holds nothing that the sender wrote. */
  readonly reason: string;
}

/** How long deliveries that were refused for the same reason are one row, in ms. */
export const refusedTogetherMs = 600_000;

/** Deliveries of one source that were refused for the same reason within ten minutes; times ISO 8601 UTC. */
export const refusedDeliveriesSchema = z
  .object({
    type: z.string().meta({ description: "The provider's type, or `unknown`" }),
    source: z
      .string()
      .nullable()
      .meta({ description: "Null where the address is not that of one source" }),
    result: z.enum(deliveryRefusals),
    count: z.int(),
    firstAt: z.iso.datetime(),
    lastAt: z.iso.datetime(),
    reason: z.string().meta({ description: "Of the last one, for the operator" }),
  })
  .meta({ id: "RefusedDeliveries" });
export type RefusedDeliveries = z.infer<typeof refusedDeliveriesSchema>;

export const refusedDeliveriesAnswer = z.object({ deliveries: z.array(refusedDeliveriesSchema) });
export type RefusedDeliveriesAnswer = z.infer<typeof refusedDeliveriesAnswer>;

/** Query of `GET /api/stats/refused-deliveries`. */
export const refusedDeliveriesQuerySchema = z.object({
  source: z.string().optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export type RefusedDeliveriesQuery = z.infer<typeof refusedDeliveriesQuerySchema>;
