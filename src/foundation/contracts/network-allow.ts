import { isIP, isIPv4 } from "node:net";
import { domainToASCII } from "node:url";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { defaultPort, hostAndPort, type DenyReason, type HostAndPort } from "./deny-reasons.ts";
import { shellWord } from "./shell-word.ts";

/** An entry of `[network].allow`: a host, or all names below one. */
export interface AllowedHost {
  /** Canonical host (`canonicalHost`); for `*.example.com` it is `example.com`. */
  readonly host: string;
  /** Whether the entry is for the names below `host`, and not `host` itself. */
  readonly isWildcard: boolean;
  readonly port: number;
  /** Whether the name may resolve to an address of a private network. */
  readonly isPrivate: boolean;
}

const labels =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
/** Characters that `domainToASCII` would cut off or decode. */
const unsafe = /[\s%/?#\\@:<>^|[\]\u0000-\u001f]/;
const entryForm =
  /^(?<wildcard>\*\.)?(?<host>\[[^\]]*\]|[^:\s]+)(:(?<port>[0-9]{1,5}))?(?<isPrivate>\s+private)?$/;

/**
 * One form for one host: lower case, punycode, no trailing dot, IPv4 always in four decimal numbers,
 * IPv6 without brackets in its short form. IPv6 has to be in brackets. Null if the text is not a host.
 */
export function canonicalHost(text: string): string | null {
  const address = /^\[([0-9a-f:.]+)\]$/i.exec(text);
  if (address !== null) return URL.parse(`http://${text}`)?.hostname.slice(1, -1) ?? null;
  if (unsafe.test(text)) return null;
  const name = domainToASCII(text).replace(/\.$/, "");
  return isIPv4(name) || (labels.test(name) && !endsInNumber(name)) ? name : null;
}

/** A name that ends in a number is an address, or an attempt at one. */
function endsInNumber(name: string): boolean {
  return /(^|\.)(0x[0-9a-f]*|[0-9]+)$/.test(name);
}

/** Parses a host entry; returns the problem as text if it is invalid. */
export function parseAllowEntry(entry: string): AllowedHost | string {
  const { wildcard, host = "", port, isPrivate } = entryForm.exec(entry.trim())?.groups ?? {};
  const named = { isWildcard: wildcard !== undefined, isPrivate: isPrivate !== undefined };
  const canonical = canonicalHost(host);
  if (canonical === null || !canBeMeant(canonical, named)) {
    return `${JSON.stringify(entry)} is neither a preset nor a host such as "api.example.com", "*.example.com", "example.com:22" or "10.0.0.7:5432 private"`;
  }
  const number = port === undefined ? defaultPort : Number(port);
  if (number < 1 || number > 65_535) {
    return `${JSON.stringify(entry)} has a port that does not exist`;
  }
  return { host: canonical, port: number, ...named };
}

function canBeMeant(
  host: string,
  { isWildcard, isPrivate }: Readonly<Record<"isWildcard" | "isPrivate", boolean>>,
): boolean {
  if (isIP(host) !== 0) return !isWildcard;
  // A name without a dot is in a private network, or a misspelt preset.
  return host.includes(".") || isPrivate;
}

/** The hosts of entries, those of presets among them. Entries that can't be read are left out. */
export function allowedHosts(entries: readonly string[]): readonly AllowedHost[] {
  return entries
    .flatMap((entry) => presetEntries(entry) ?? [entry])
    .map(parseAllowEntry)
    .filter((parsed) => typeof parsed !== "string");
}

/** The hosts that a preset stands for; null if the name is not a preset. */
export function presetEntries(name: string): readonly string[] | null {
  return Object.hasOwn(networkPresets, name) ? (networkPresets[name] ?? null) : null;
}

/** The entry for a host. A name without a dot is in a private network. */
export function allowEntry({
  host,
  port,
  isPrivate = isIP(host) === 0 && !host.includes("."),
}: HostAndPort & { readonly isPrivate?: boolean }): string {
  return `${hostAndPort({ host, port })}${isPrivate ? " private" : ""}`;
}

/** Whether the entry is for this host, in its canonical form, and port. */
export function isFor(entry: AllowedHost, host: string, port: number): boolean {
  if (entry.port !== port) return false;
  return entry.isWildcard ? host.endsWith(`.${entry.host}`) : host === entry.host;
}

/** The part of a config that decides whether a host is held. */
export interface HostGate {
  readonly approve: AgentConfig["approve"];
  readonly network: AgentConfig["network"];
}

/**
 * Whether `[approve].hosts` of a config holds a host. A wildcard does not hold a host that the `[network].allow` beside it
 * names: that is how a person allows it for good.
 */
export function holdsHost({ approve, network }: HostGate, { host, port }: HostAndPort): boolean {
  const held = allowedHosts(approve?.hosts ?? []).filter((entry) => isFor(entry, host, port));
  if (held.some(({ isWildcard }) => !isWildcard)) return true;
  const named = (network?.allow ?? []).map(parseAllowEntry);
  const isNamed = named.some(
    (entry) => typeof entry !== "string" && !entry.isWildcard && isFor(entry, host, port),
  );
  return held.length > 0 && !isNamed;
}

/**
 * Names for the hosts of a service, as `[network].allow` accepts them. A host with content of strangers, such as a
 * bucket or a page, lets an agent send data out; such hosts are omitted if the service works without them.
 */
export const networkPresets: Readonly<Record<string, readonly string[]>> = {
  github: [
    "github.com",
    "github.com:22",
    "api.github.com",
    "uploads.github.com",
    "codeload.github.com",
    "raw.githubusercontent.com",
    "objects.githubusercontent.com",
    "release-assets.githubusercontent.com",
    "github-cloud.githubusercontent.com",
  ],
  gitlab: ["gitlab.com", "gitlab.com:22"],
  bitbucket: ["bitbucket.org", "bitbucket.org:22", "api.bitbucket.org"],
  npm: ["registry.npmjs.org"],
  pypi: ["pypi.org", "files.pythonhosted.org"],
  crates: ["index.crates.io", "static.crates.io", "crates.io"],
  go: ["proxy.golang.org", "sum.golang.org"],
  rubygems: ["rubygems.org", "index.rubygems.org"],
  debian: ["deb.debian.org", "deb.debian.org:80", "security.debian.org", "security.debian.org:80"],
  ubuntu: [
    "archive.ubuntu.com",
    "archive.ubuntu.com:80",
    "security.ubuntu.com",
    "security.ubuntu.com:80",
  ],
  alpine: ["dl-cdn.alpinelinux.org"],
  sentry: ["sentry.io", "*.sentry.io"],
  linear: ["api.linear.app"],
  slack: ["slack.com", "files.slack.com"],
  discord: ["discord.com"],
  notion: ["api.notion.com"],
  mintlify: ["api.mintlify.com"],
  bugsnag: ["api.bugsnag.com"],
  netlify: ["api.netlify.com"],
  hetzner: ["api.hetzner.cloud"],
  vultr: ["api.vultr.com"],
  stripe: ["api.stripe.com"],
  cloudflare: ["api.cloudflare.com"],
  vercel: ["api.vercel.com"],
  reddit: ["www.reddit.com", "oauth.reddit.com"],
  x: ["api.x.com", "api.twitter.com"],
  aws: ["*.amazonaws.com"],
  gcp: ["*.googleapis.com"],
};

/** The entry that a denied host needs; null if no entry helps, or an existing one does. */
export function missingEntry(
  { host, port, denied }: HostAndPort & { readonly denied: DenyReason },
  allow: readonly AllowedHost[],
): string | null {
  const isPrivate = denied === "private_address";
  if (denied !== "not_allowed" && !isPrivate) return null;
  const isListed = allow.some((entry) => {
    return isFor(entry, host, port) && (entry.isPrivate || !isPrivate);
  });
  if (isListed) return null;
  return isPrivate ? allowEntry({ host, port, isPrivate }) : allowEntry({ host, port });
}

/** The command that allows a host for an agent. */
export function allowCommand(agent: string, entry: string): string {
  return `al config ${agent} --add ${shellWord(`network.allow=${entry}`)}`;
}

export interface AllowList {
  readonly allow: readonly AllowedHost[];
}

/** The hosts that a run may reach beside its models. */
export interface EgressPolicy extends AllowList {
  readonly agent: string;
  /** The gateway's port on this machine, refused even if it is listed; null for none. */
  readonly ownPort: number | null;
  readonly bindings: readonly SecretBinding[];
  /** Refs that the run may push to hosts of `bindings`; absent for any. */
  readonly push?: readonly string[] | undefined;
}

/** A secret outside of the run, and the hosts that receive it. */
export interface SecretBinding {
  /** Stands for the secret in the run. */
  readonly sentinel: string;
  /** Null before it is minted. */
  readonly secret: string | null;
  /** Present for a token that is minted when a request needs it. Rejects with a Problem. */
  readonly mint?: () => Promise<string>;
  /** Canonical hosts, on port 443. */
  readonly hosts: readonly string[];
}

/** Bytes from the run, and to it. */
export interface TransferredBytes {
  readonly bytesOut: number;
  readonly bytesIn: number;
}

/** A connection that a run requested, at its end. */
export interface EgressAttempt extends TransferredBytes {
  readonly instanceId: string;
  readonly agent: string;
  /** Canonical host; if invalid, as written, cut to 255 characters. */
  readonly host: string;
  /** 0 when it can't be read. */
  readonly port: number;
  /** Null if it was allowed. */
  readonly denied: DenyReason | null;
  /** For a person: the reason, and a fix. Empty if it was allowed. */
  readonly detail: string;
}
