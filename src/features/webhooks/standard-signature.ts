import { isSameSecret } from "../../foundation/contracts/same-secret.ts";
import { header, hmac, refused, secondsToMs, verifyTime } from "./signature.ts";
import type { Headers, Request, ToSign, Verdict } from "./provider.ts";

/** How far the sender's clock may be off, in ms. */
const windowMs = 300_000;
const prefix = "whsec_";

/** The headers of Standard Webhooks, and Svix' own names for the same ones, which Clerk, Resend and others send. */
export const standardHeaders = {
  secret: ["webhook-signature", "svix-signature"],
  kept: ["webhook-id", "webhook-timestamp", "svix-id", "svix-timestamp"],
} as const;

/** One of these headers by its last word; null without. */
export function standardHeader(
  headers: Headers,
  name: "id" | "timestamp" | "signature",
): string | null {
  return header(headers, `webhook-${name}`) ?? header(headers, `svix-${name}`);
}

/**
 * Checks a request by Standard Webhooks 1.0: `webhook-signature` holds `v1,<base64 HMAC-SHA256>` once or more, over
 * `id.timestamp.body`, with the key that is the base64 after `whsec_`; `webhook-timestamp` is unix seconds, ±300.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function verifyStandard({ headers, body }: Request, secret: string, now: number): Verdict {
  const id = standardHeader(headers, "id");
  const timestamp = standardHeader(headers, "timestamp");
  const given = standardHeader(headers, "signature");
  if (id === null || timestamp === null || given === null) return refused("no signature");
  const key = keyOf(secret);
  if (key.length === 0) return refused(`the secret holds no base64 key after "${prefix}"`);
  const expected = `v1,${hmac(key, `${id}.${timestamp}.`, body).toString("base64")}`;
  // As text: several base64 texts decode to the same bytes.
  const matches = given.split(" ").some((one) => isSameSecret(one, expected));
  return matches
    ? verifyTime(secondsToMs(timestamp), now, windowMs)
    : refused("signature does not match");
}

/** The three headers that `verifyStandard` accepts. */
export function signStandard({ secret, body, now, id }: ToSign): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const signature = hmac(keyOf(secret), `${id}.${timestamp}.`, body).toString("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}

/** Whether a secret is in this scheme's form. */
export function isStandardSecret(secret: string): boolean {
  return secret.startsWith(prefix);
}

function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  return Buffer.from(encoded, "base64");
}
