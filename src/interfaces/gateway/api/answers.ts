import { z } from "zod";
import { nullableText } from "../../../foundation/contracts/wire-fields.ts";
import { failingSchema } from "../../../foundation/contracts/history.ts";
import { lockSchema } from "../../../foundation/contracts/operator-api.ts";
import { agentConfigSchema } from "../../../foundation/config/agent-view.ts";

/** Every error response (RFC 9457); `error` is a short stable code for programs. */
export const problemSchema = z
  .object({
    type: z.literal("about:blank"),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    error: z.string(),
  })
  .meta({ id: "Problem" });

const success = z.literal(true);

export const healthAnswer = z.object({ status: z.literal("ok"), uptimeSeconds: z.int() });
export const readyAnswer = z.object({ status: z.literal("ready") });
export const locksAnswer = z.object({ locks: z.array(lockSchema).readonly() });

/** An agent in full, for its own page. */
export const agentDetailSchema = z
  .object({
    config: agentConfigSchema.nullable().meta({ description: "Null until there was a valid one" }),
    nextTicks: z.array(z.iso.datetime()).readonly(),
    failing: failingSchema
      .nullable()
      .meta({ description: "Null while its latest run succeeded or was stopped by a person" }),
    scheduleText: nullableText.meta({ description: "The schedule in words" }),
    facts: z
      .array(z.object({ label: z.string(), values: z.array(z.string()).readonly() }))
      .readonly()
      .meta({ description: "The keys that the config sets, as lines for people" }),
  })
  .meta({ id: "AgentDetail" });

/** The response to a webhook's sender: `matched` for a delivery, `duplicate` for a repeated one, else a ping's. */
export const deliveryAnswer = z.union([
  z.object({ receiptId: z.string(), matched: z.array(z.object({ agent: z.string() })) }),
  z.object({ receiptId: z.string(), duplicate: success }),
  z.record(z.string(), z.unknown()),
]);
