import { createHmac, randomBytes } from "node:crypto";
import { isoTime } from "../../../streams/iso-times.ts";
import type { LoginLink } from "../../foundation/contracts/operator-api.ts";

const linkMs = 10 * 60_000;
/** Limit of remembered links, including old ones, whose page says why they don't log in; beyond it the oldest is dropped. */
const maxLinks = 200;

export type LoginLinks = ReturnType<typeof createLoginLinks>;

/**
 * Login links of this process. Only the hash of a token is stored, and only in memory: a link ends with its scheduler, and
 * with the active `apiKey`. `now` is epoch ms.
 */
export function createLoginLinks(apiKey: () => string, now = Date.now) {
  const links = new Map<string, { readonly expiresAt: number; isUsed: boolean }>();
  const idOf = (token: string): string =>
    createHmac("sha256", apiKey()).update(token).digest("hex");
  return {
    /** Makes a link to this gateway: it logs in once, within 10 minutes. */
    create: (gatewayUrl: string): LoginLink => {
      const token = randomBytes(16).toString("base64url");
      const expiresAt = now() + linkMs;
      links.set(idOf(token), { expiresAt, isUsed: false });
      const [oldest] = links.keys();
      if (links.size > maxLinks && oldest !== undefined) links.delete(oldest);
      return { url: `${gatewayUrl}/login/${token}`, expiresAt: isoTime(expiresAt) };
    },
    /** The state of a link by its token; `unknown` for one of an earlier scheduler, or from before the API key changed. */
    state: (token: string): "good" | "used" | "expired" | "unknown" => {
      const link = links.get(idOf(token));
      if (link === undefined) return "unknown";
      if (link.isUsed) return "used";
      return now() < link.expiresAt ? "good" : "expired";
    },
    /** The link never logs in again. */
    use: (token: string): void => {
      const link = links.get(idOf(token));
      if (link !== undefined) link.isUsed = true;
    },
  };
}

/** Makes a link; its address as long as it logs in, then null. */
export function linkUntilUsed(links: LoginLinks, gatewayUrl: string): () => string | null {
  const { url } = links.create(gatewayUrl);
  const token = url.slice(url.lastIndexOf("/") + 1);
  return () => (links.state(token) === "good" ? url : null);
}
