import { denyProblems } from "../../../foundation/contracts/deny-reasons.ts";
import type { DenyReason } from "../../../foundation/contracts/deny-reasons.ts";
import type { EgressPolicy } from "../../../foundation/contracts/egress.ts";
import { bracketed, hostAndPort } from "../../../foundation/contracts/host-and-port.ts";
import { allowEntry, isFor } from "../../../foundation/contracts/network-allow.ts";
import type { AllowedHost } from "../../../foundation/contracts/network-allow.ts";

/** What was asked for, for the texts of a refusal. */
interface Asked {
  readonly host: string;
  readonly port: number;
}

interface DenyRow {
  readonly status: number;
  /** What to do. */
  readonly advice: (asked: Asked) => string;
}

const denials: Readonly<Record<DenyReason, DenyRow>> = {
  malformed: {
    status: 400,
    advice: () => "Ask for host:port, with IPv6 addresses in brackets, or for http://host/path.",
  },
  not_allowed: {
    status: 403,
    advice: (asked) =>
      `If the agent needs it, add "${allowEntry(asked)}" to allow in [network] of the agent's or the project's config.toml.`,
  },
  unresolved: {
    status: 502,
    advice: () => "Check the name, and whether the scheduler's machine resolves it.",
  },
  private_address: {
    status: 403,
    advice: (asked) =>
      `If that is meant, write "${allowEntry({ ...asked, isPrivate: true })}" in [network].allow in place of its entry.`,
  },
  refused_address: {
    status: 403,
    advice: () =>
      "Loopback, link-local and metadata addresses and the scheduler's own port stay closed, whatever is listed.",
  },
  unreachable: {
    status: 502,
    advice: () => "Check that it is up, and that the scheduler's machine reaches it.",
  },
  no_tls: {
    status: 403,
    advice: ({ host }) =>
      `Port 443 is for TLS. For plain HTTP list "${bracketed(host)}:80", and ask for that port.`,
  },
  server_name: {
    status: 403,
    advice: () =>
      "A tunnel serves the host that it was opened for: open one for each host, with its name as the server name.",
  },
  too_many_tunnels: {
    status: 429,
    advice: () => "Close some of them first.",
  },
  sentinel: {
    status: 403,
    advice: () =>
      "It is replaced in headers of HTTPS requests to the hosts of its credential; [network.credentials] adds hosts.",
  },
};

/** A connection that a run may not have. */
export class EgressRefusal extends Error {
  readonly reason: DenyReason;
  readonly status: number;
  /** What is wrong, in one line of ASCII: programs print it. */
  readonly phrase: string;
  /** For a person: what is wrong, and what to do. */
  readonly detail: string;

  constructor(reason: DenyReason, asked: Asked, { more = "" }: { readonly more?: string } = {}) {
    const { status, advice } = denials[reason];
    const subject = reason === "malformed" ? "the address" : hostAndPort(asked);
    const phrase = `${subject} ${denyProblems[reason]}`;
    super(phrase);
    this.reason = reason;
    this.status = status;
    this.phrase = phrase;
    const why = more === "" ? "" : ` (${more})`;
    this.detail = `${phrase}${why}. ${advice(asked)}`;
  }
}

/** What the allow list says of a host. */
export interface Permission {
  /** Whether one of its entries says `private`. */
  readonly isPrivate: boolean;
}

/** Throws an `EgressRefusal` when no entry is for the host, in its canonical form, and the port. */
export function assertAllowed({ allow }: Pick<EgressPolicy, "allow">, asked: Asked): Permission {
  const entries = allow.filter((entry: AllowedHost) => isFor(entry, asked.host, asked.port));
  if (entries.length === 0) throw new EgressRefusal("not_allowed", asked);
  return { isPrivate: entries.some(({ isPrivate }) => isPrivate) };
}
