import { createHmac, randomBytes } from "node:crypto";
import type { LoginLink } from "../../foundation/contracts/login-link.ts";

/** `unknown` is also the state of a link of an earlier scheduler, or from before the API key changed. */
export type LinkState = "good" | "used" | "expired" | "unknown";

export interface LoginLinks {
  /** Makes a link to this gateway: it logs in once, within 10 minutes. */
  create(gatewayUrl: string): LoginLink;
  /** The state of a link by its token, the last part of its path. */
  state(token: string): LinkState;
  /** The link never logs in again. */
  use(token: string): void;
}

export interface LoginLinksOptions {
  /** The active API key: another one ends all links, as it ends all sessions. */
  readonly apiKey: () => string;
  /** Epoch ms. */
  readonly now?: () => number;
}

interface Link {
  /** Epoch ms. */
  readonly expiresAt: number;
  isUsed: boolean;
}

const linkMs = 10 * 60_000;
/** Remembered links, old ones included, so that their page says why they don't log in; beyond it the oldest is forgotten. */
const maxLinks = 200;

/** Login links of this process. Only the hash of a token is stored, and only in memory: a link ends with its scheduler. */
export function createLoginLinks({ apiKey, now = Date.now }: LoginLinksOptions): LoginLinks {
  const links = new Map<string, Link>();
  const idOf = (token: string): string =>
    createHmac("sha256", apiKey()).update(token).digest("hex");
  return {
    create(gatewayUrl) {
      const token = randomBytes(16).toString("base64url");
      const expiresAt = now() + linkMs;
      links.set(idOf(token), { expiresAt, isUsed: false });
      const [oldest] = links.keys();
      if (links.size > maxLinks && oldest !== undefined) links.delete(oldest);
      return { url: `${gatewayUrl}/login/${token}`, expiresAt: new Date(expiresAt).toISOString() };
    },
    state(token) {
      const link = links.get(idOf(token));
      if (link === undefined) return "unknown";
      if (link.isUsed) return "used";
      return now() < link.expiresAt ? "good" : "expired";
    },
    use(token) {
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
