import { z } from "zod";

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

/** The response to a webhook's sender: `matched` for a delivery, `duplicate` for a repeated one, else a ping's. */
export const deliveryAnswer = z.union([
  z.object({ receiptId: z.string(), matched: z.array(z.object({ agent: z.string() })) }),
  z.object({ receiptId: z.string(), duplicate: success }),
  z.record(z.string(), z.unknown()),
]);
