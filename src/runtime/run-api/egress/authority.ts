import { canonicalHost } from "../../../foundation/contracts/network-allow.ts";

/** On which a host is asked by TLS and nothing else. */
export const tlsPort = 443;

/** A host and a port, as a request asks for them. */
export interface Authority {
  /** Canonical. */
  readonly host: string;
  readonly port: number;
}

/** Printable ASCII and no userinfo; an IPv6 address is in brackets. */
const form = /^(?<host>\[[0-9a-fA-F:.]+\]|[\w.-]+)(:(?<port>[1-9][0-9]{0,4}))?$/;
const longest = 255;

/** Reads `host:port`, or `host` where there is a default port. Null for what any two programs could read differently. */
export function parseAuthority(text: string, defaultPort?: number): Authority | null {
  if (text.length > longest) return null;
  const { host = "", port: digits } = form.exec(text)?.groups ?? {};
  const port = digits === undefined ? defaultPort : Number(digits);
  const canonical = canonicalHost(host);
  if (canonical === null || port === undefined || port > 65_535) return null;
  return { host: canonical, port };
}
