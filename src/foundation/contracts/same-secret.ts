import { createHash, timingSafeEqual } from "node:crypto";

/** Compares in a time that shows nothing of either secret, their lengths included; an empty one is no secret. */
export function isSameSecret(given: string, expected: string): boolean {
  return expected !== "" && timingSafeEqual(sha256(given), sha256(expected));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
