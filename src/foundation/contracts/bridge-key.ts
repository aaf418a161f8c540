import { createHmac } from "node:crypto";

/** The user of the bridge's Basic authentication; only the key counts. */
export const bridgeUser = "al";

/**
 * The key of a run's bridge. It is made of the run's token, so that all who remove that from texts know the key too; it
 * does not lead back to the token.
 */
export function bridgeKey(token: string): string {
  return createHmac("sha256", token).update("bridge").digest("hex").slice(0, 48);
}
