import { z } from "zod";
import { isoTime } from "../../../streams/iso-times.ts";
import { scopes, tokenLimits, type ApiToken } from "../../foundation/contracts/scopes.ts";

const name = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,39}$/, {
  error: "a name has 1 to 40 of a–z, 0–9, _, . and -, and begins with a letter or digit",
});

export const tokenParams = z.object({
  name: z.string().max(200).meta({ description: "A token's name" }),
});

/** Body of `POST /api/tokens`. */
export const newTokenSchema = z.strictObject({
  name: name.meta({ description: "Shown in the audit trail" }),
  scopes: z.array(z.enum(scopes)).min(1).max(scopes.length),
  agents: z
    .array(z.string().max(63))
    .min(1)
    .max(100)
    .nullish()
    .meta({ description: "Agents that it is limited to. Default: all" }),
  days: z.int().min(1).max(tokenLimits.maxDays).default(tokenLimits.defaultDays),
});
export type NewToken = z.output<typeof newTokenSchema>;

const time = z.iso.datetime();
export const tokenSchema = z
  .object({
    name: z.string(),
    scopes: z.array(z.enum(scopes)).readonly(),
    agents: z.array(z.string()).readonly().nullable().meta({ description: "Null for all" }),
    createdAt: time,
    expiresAt: time,
    expired: z.boolean(),
    lastUsedAt: time.nullable().meta({ description: "To the minute after a restart" }),
  })
  .meta({ id: "ApiToken" });
export type TokenView = z.infer<typeof tokenSchema>;

export const tokensSchema = z.object({ tokens: z.array(tokenSchema).readonly() });
export type TokensReport = z.infer<typeof tokensSchema>;

export const createdTokenSchema = tokenSchema.extend({
  token: z.string().meta({ description: "The secret; it is not stored and not shown again" }),
});
export type CreatedToken = z.infer<typeof createdTokenSchema>;

/** A token with its times in epoch ms. */
export interface StoredToken extends ApiToken {
  /** SHA-256 of the secret. */
  readonly hash: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export function tokenView(token: StoredToken, now: number): TokenView {
  const { name, scopes, agents, createdAt, expiresAt, lastUsedAt } = token;
  return {
    name,
    scopes,
    agents,
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
    expired: expiresAt <= now,
    lastUsedAt: isoTime(lastUsedAt),
  };
}
