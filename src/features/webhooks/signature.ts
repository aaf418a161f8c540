import { createHmac, timingSafeEqual } from "node:crypto";
import type { Headers, Verdict, Request, ToSign } from "./provider.ts";
import { isSameSecret } from "../../foundation/contracts/request-limit.ts";

export const valid: Verdict = { ok: true };

/** A verdict with its reason for the operator's log. */
export function refused(why: string): Verdict {
  return { ok: false, why };
}

/** One header's value; null when it is missing or empty. */
export function header(headers: Headers, name: string): string | null {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  const first = typeof value === "object" ? value[0] : value;
  return first === undefined || first === "" ? null : first;
}

/** HMAC-SHA256 over the parts in order. */
export function hmac(key: string | Buffer, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** Compares in constant time; the lengths themselves aren't secret. */
function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Compares a hex digest from a header with the expected bytes. */
export function sameHex(given: string, expected: Buffer): boolean {
  // Buffer.from would stop silently at the first character that is not hex.
  return /^[0-9a-f]{64}$/i.test(given) && sameBytes(Buffer.from(given, "hex"), expected);
}

/** Checks a header that is a bare hex HMAC-SHA256 of the raw body, after an optional prefix such as `sha256=`. */
export function verifyHex(
  given: string | null,
  prefix: string,
  secret: string,
  ...parts: readonly (string | Uint8Array)[]
): Verdict {
  if (given === null) return refused("no signature");
  if (!given.startsWith(prefix)) return refused("signature in an unknown form");
  const matches = sameHex(given.slice(prefix.length), hmac(secret, ...parts));
  return matches ? valid : refused("signature does not match");
}

/** How far the sender's clock may be off, in ms. */
const skewMs = 300_000;

/**
 * Checks that a signed time is at most `windowMs` old, and hardly ahead; all three in ms. A time that is not a number is
 * rejected. The window is longer than the clocks' difference for senders that repeat a delivery with its first time.
 */
export function verifyTime(time: number, now: number, windowMs = skewMs): Verdict {
  if (!Number.isFinite(time)) return refused("no valid timestamp");
  const off = Math.round((now - time) / 1000);
  if (now - time <= windowMs && time - now <= skewMs) return valid;
  return refused(`timestamp is ${Math.abs(off)} s ${off > 0 ? "old" : "ahead"}`);
}

/** A header's unix seconds as ms; NaN when it is anything but digits. */
export function secondsToMs(value: string | null): number {
  return value !== null && /^\d{1,12}$/.test(value) ? Number(value) * 1000 : Number.NaN;
}

const prefix = "whsec_";

/** The headers of Standard Webhooks, and Svix' own names for the same ones, which Clerk, Resend and others send. */
export const standardHeaders = {
  secret: ["webhook-signature", "svix-signature"],
  kept: ["webhook-id", "webhook-timestamp", "svix-id", "svix-timestamp"],
} as const;

/** A header of Standard Webhooks, under its name or that of Svix; null if it is missing. */
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
  if (key.length === 0) return refused(`the secret contains no base64 key after "${prefix}"`);
  const expected = `v1,${hmac(key, `${id}.${timestamp}.`, body).toString("base64")}`;
  // Compared as text: several base64 texts decode to the same bytes.
  const matches = given.split(" ").some((one) => isSameSecret(one, expected));
  return matches ? verifyTime(secondsToMs(timestamp), now) : refused("signature does not match");
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
