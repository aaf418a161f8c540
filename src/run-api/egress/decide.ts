import type { DenyReason, EgressPolicy } from "../../contracts/egress.ts";
import { isFor } from "../../contracts/network-allow.ts";
import type { AllowedHost } from "../../contracts/network-allow.ts";
import { bracketed } from "./authority.ts";

/** What was asked for, for the texts of a refusal. */
interface Asked {
  readonly host: string;
  readonly port: number;
}

interface DenyRow {
  readonly status: number;
  /** What follows the host. */
  readonly problem: string;
  /** What to do. */
  readonly advice: (asked: Asked) => string;
}

/** Of the port that is meant without one. */
const entryOf = ({ host, port }: Asked): string =>
  port === 443 ? bracketed(host) : `${bracketed(host)}:${port}`;

const denials: Readonly<Record<DenyReason, DenyRow>> = {
  malformed: {
    status: 400,
    problem: "can't be read",
    advice: () => "Ask for host:port, with IPv6 addresses in brackets, or for http://host/path.",
  },
  not_allowed: {
    status: 403,
    problem: "is not in [network].allow",
    advice: (asked) =>
      `If the agent needs it, add "${entryOf(asked)}" to allow in [network] of the agent's or the project's config.toml.`,
  },
  unresolved: {
    status: 502,
    problem: "has no address",
    advice: () => "Check the name, and whether the scheduler's machine resolves it.",
  },
  private_address: {
    status: 403,
    problem: "has an address in a private network only",
    advice: (asked) =>
      `If that is meant, write "${entryOf(asked)} private" in [network].allow in place of its entry.`,
  },
  refused_address: {
    status: 403,
    problem: "has an address that no run may reach",
    advice: () =>
      "Loopback, link-local and metadata addresses and the scheduler's own port stay closed, whatever is listed.",
  },
  unreachable: {
    status: 502,
    problem: "can't be reached",
    advice: () => "Check that it is up, and that the scheduler's machine reaches it.",
  },
  no_tls: {
    status: 403,
    problem: "was not asked by TLS",
    advice: ({ host }) =>
      `Port 443 is for TLS. For plain HTTP list "${bracketed(host)}:80", and ask for that port.`,
  },
  server_name: {
    status: 403,
    problem: "is not the TLS server name of the connection",
    advice: () =>
      "A tunnel serves the host that it was opened for: open one for each host, with its name as the server name.",
  },
  too_many_tunnels: {
    status: 429,
    problem: "has to wait, as this run has too many connections open",
    advice: () => "Close some of them first.",
  },
  sentinel: {
    status: 403,
    problem: "would have been sent what stands for a secret",
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
    const { status, problem, advice } = denials[reason];
    const subject = reason === "malformed" ? "the address" : entryOf(asked);
    const phrase = `${subject} ${problem}`;
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
export function assertAllowed(
  { allow, ask }: Pick<EgressPolicy, "allow" | "ask">,
  asked: Asked,
): Permission {
  const entries = allow.filter((entry: AllowedHost) => isFor(entry, asked.host, asked.port));
  if (entries.length === 0) {
    const more = ask ? "`ask = true` denies like false until questions can be answered" : "";
    throw new EgressRefusal("not_allowed", asked, { more });
  }
  return { isPrivate: entries.some(({ isPrivate }) => isPrivate) };
}
