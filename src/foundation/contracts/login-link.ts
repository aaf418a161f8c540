import { z } from "zod";

/** A link that logs a browser in, once. */
export const loginLinkSchema = z
  .object({
    url: z.string().meta({ description: "Its path holds the token" }),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: "LoginLink" });
export type LoginLink = z.infer<typeof loginLinkSchema>;
