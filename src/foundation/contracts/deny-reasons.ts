/** Why a run may not reach a host. */
export const denyReasons = [
  /** The requested address can't be parsed. */
  "malformed",
  /** No entry of the allow list is for the host and port. */
  "not_allowed",
  /** `[approve].hosts` holds the host, and no person allowed it. */
  "not_approved",
  /** DNS has no IP address for the host. */
  "unresolved",
  /** All its addresses are in private networks, and the entry does not say `private`. */
  "private_address",
  /** All its addresses belong to this machine, its link, a cloud's metadata service, or no single host. */
  "refused_address",
  /** The host could not be reached. */
  "unreachable",
  /** TLS was expected and something else was sent. */
  "no_tls",
  /** The TLS server name differs from the requested host. */
  "server_name",
  /** The run has its maximum of open tunnels. */
  "too_many_tunnels",
  /** A sentinel was sent to a host that it is not bound to, or outside of a header. */
  "sentinel",
  /** A push changes a ref that `[workspace].push` does not list. */
  "push",
] as const;
export type DenyReason = (typeof denyReasons)[number];

/** The problem with a host, as a text after its name. */
export const denyProblems: Readonly<Record<DenyReason, string>> = {
  malformed: "can't be read",
  not_allowed: "is not in [network].allow",
  not_approved: "was not approved",
  unresolved: "has no address",
  private_address: "has an address in a private network only",
  refused_address: "has an address that no run may reach",
  unreachable: "can't be reached",
  no_tls: "was not asked by TLS",
  server_name: "is not the TLS server name of the connection",
  too_many_tunnels: "has to wait, because this run has too many open connections",
  sentinel: "would have received a placeholder for a secret",
  push: "was not sent a push",
};

export function isDenyReason(code: string): code is DenyReason {
  return Object.hasOwn(denyProblems, code);
}

/** The port of an address that names none. */
export const defaultPort = 443;

/** A host as addresses of requests and entries have it, IPv6 in brackets. */
export function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

export interface HostAndPort {
  /** Canonical. */
  readonly host: string;
  readonly port: number;
}

/** The address of a request, without the default port. */
export function hostAndPort({ host, port }: HostAndPort): string {
  return port === defaultPort ? bracketed(host) : `${bracketed(host)}:${port}`;
}
