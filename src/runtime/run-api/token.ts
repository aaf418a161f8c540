import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** An unguessable token for one run: 256 bits, as base64url. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** What is kept of a token: its SHA-256, as hex. */
export function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/**
 * Whether an `Authorization` header carries the token with this hash, in a time that reveals nothing about it. None does
 * where there is no token.
 */
export function carriesToken(authorization: string | undefined, tokenHash: string | null): boolean {
  const [, token] = /^Bearer ([\w-]{1,200})$/i.exec(authorization ?? "") ?? [];
  if (token === undefined || tokenHash === null) return false;
  return timingSafeEqual(Buffer.from(hashOf(token), "hex"), Buffer.from(tokenHash, "hex"));
}
