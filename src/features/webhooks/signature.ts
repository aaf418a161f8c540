import { createHmac, timingSafeEqual } from "node:crypto";
import type { Headers, Verdict } from "./provider.ts";

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

/** Compares in constant time; the lengths themselves are no secret. */
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

/** Checks that a signed time is near enough; all three in ms. A time that is not a number is refused. */
export function verifyTime(time: number, now: number, windowMs: number): Verdict {
  if (!Number.isFinite(time)) return refused("no valid timestamp");
  const off = Math.round((now - time) / 1000);
  if (Math.abs(now - time) <= windowMs) return valid;
  return refused(`timestamp is ${Math.abs(off)} s ${off > 0 ? "old" : "ahead"}`);
}

/** A header's unix seconds as ms; NaN when it is anything but digits. */
export function secondsToMs(value: string | null): number {
  return value !== null && /^\d{1,12}$/.test(value) ? Number(value) * 1000 : Number.NaN;
}
