import {
  denyProblems,
  bracketed,
  hostAndPort,
} from "../../../foundation/contracts/deny-reasons.ts";
import type { DenyReason } from "../../../foundation/contracts/deny-reasons.ts";
import { Problem } from "../../../foundation/errors.ts";
import { allowEntry, isFor, canonicalHost } from "../../../foundation/contracts/network-allow.ts";
import type {
  AllowedHost,
  AllowList,
  TransferredBytes,
} from "../../../foundation/contracts/network-allow.ts";

/** A fix for the reader of a refusal. */
const advice: Readonly<Record<DenyReason, string | ((asked: Authority) => string)>> = {
  malformed: "Ask for host:port, with IPv6 addresses in brackets, or for http://host/path.",
  not_allowed: (asked) =>
    `If the agent needs it, add "${allowEntry(asked)}" to allow in [network] of the agent's or the project's config.toml.`,
  not_approved: "Continue without this host.",
  unresolved: "Check the name, and whether the scheduler's machine resolves it.",
  private_address: (asked) =>
    `If this is intended, write "${allowEntry({ ...asked, isPrivate: true })}" in [network].allow instead of its entry.`,
  refused_address:
    "Loopback, link-local and metadata addresses and the scheduler's own port always stay closed.",
  unreachable: "Check that it is up, and that the scheduler's machine reaches it.",
  no_tls: ({ host }) =>
    `Port 443 is for TLS. For plain HTTP list "${bracketed(host)}:80", and ask for that port.`,
  server_name:
    "A tunnel serves the host that it was opened for: open one for each host, with its name as the server name.",
  too_many_tunnels: "Close some of them first.",
  sentinel:
    "It is replaced in headers of HTTPS requests to its credential's hosts; [network.credentials] adds hosts.",
  push: "[workspace].push of the agent's config.toml lists the refs that its runs may push.",
};

/** Why a connection is refused. */
export interface Denial {
  readonly code: DenyReason;
  /** The problem and a fix, for a person. */
  readonly detail: string;
}

/** A connection that the egress rules deny, or that failed. */
export class EgressRefusal extends Problem {
  declare readonly code: DenyReason;
  /** The problem in one line of ASCII, which programs print. */
  readonly phrase: string;
  /** The problem and a fix, for a person. */
  readonly detail: string;

  constructor(reason: DenyReason, asked: Authority, more = "") {
    const subject = reason === "malformed" ? "the address" : hostAndPort(asked);
    const phrase = `${subject} ${denyProblems[reason]}`;
    const fix = advice[reason];
    const hint = typeof fix === "string" ? fix : fix(asked);
    super(reason, phrase, { hint, status: reason === "not_approved" ? 403 : undefined });
    const why = more === "" ? "" : ` (${more})`;
    this.phrase = phrase;
    this.detail = `${phrase}${why}. ${hint}`;
  }
}

/** The allow list's permission for a host. */
export interface Permission {
  /** Whether a matching entry is marked `private`. */
  readonly isPrivate: boolean;
}

/** Throws an `EgressRefusal` if no entry matches the host, in its canonical form, and the port. */
export function assertAllowed({ allow }: AllowList, asked: Authority): Permission {
  const entries = allow.filter((entry: AllowedHost) => isFor(entry, asked.host, asked.port));
  if (entries.length === 0) throw new EgressRefusal("not_allowed", asked);
  return { isPrivate: entries.some(({ isPrivate }) => isPrivate) };
}

/** The port on which only TLS is allowed. */
export const tlsPort = 443;

/** The host and port of a request. */
export interface Authority {
  /** Canonical. */
  readonly host: string;
  readonly port: number;
}

/** One requested connection of a run, for the report. */
export interface Attempt {
  readonly instanceId: string;
  readonly asked: Authority;
  /** Bytes transferred so far. */
  bytes: () => TransferredBytes;
}

/** Printable ASCII and no userinfo; an IPv6 address is in brackets. */
const form = /^(?<host>\[[0-9a-fA-F:.]+\]|[\w.-]+)(:(?<port>[1-9][0-9]{0,4}))?$/;
const longest = 255;

/** Parses `host:port`, or `host` if a default port is given. Null if two programs could read the text differently. */
export function parseAuthority(text: string, defaultPort?: number): Authority | null {
  if (text.length > longest) return null;
  const { host = "", port: digits } = form.exec(text)?.groups ?? {};
  const port = digits === undefined ? defaultPort : Number(digits);
  const canonical = canonicalHost(host);
  if (canonical === null || port === undefined || port > 65_535) return null;
  return { host: canonical, port };
}
