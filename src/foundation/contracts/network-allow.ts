import { isIP, isIPv4 } from "node:net";
import { domainToASCII } from "node:url";
import { defaultPort, hostAndPort } from "./host-and-port.ts";
import { networkPresets } from "./network-presets.ts";

/** An entry of `[network].allow`: a host, or all names below one. */
export interface AllowedHost {
  /** As `canonicalHost` gives it; of `*.example.com` it is `example.com`. */
  readonly host: string;
  /** Whether it is the names below `host`, and not `host` itself. */
  readonly isWildcard: boolean;
  readonly port: number;
  /** Whether the name may resolve to an address of a private network. */
  readonly isPrivate: boolean;
}

const labels =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
/** What `domainToASCII` would cut off or decode. */
const unsafe = /[\s%/?#\\@:<>^|[\]\u0000-\u001f]/;
const entryForm =
  /^(?<wildcard>\*\.)?(?<host>\[[^\]]*\]|[^:\s]+)(:(?<port>[0-9]{1,5}))?(?<isPrivate>\s+private)?$/;

/**
 * One form for one host: lower case, punycode, no trailing dot, IPv4 in four decimal numbers whatever it was written in,
 * IPv6 without brackets in its short form. IPv6 has to be in brackets. Null for what is no host.
 */
export function canonicalHost(text: string): string | null {
  const address = /^\[([0-9a-f:.]+)\]$/i.exec(text);
  if (address !== null) return URL.parse(`http://${text}`)?.hostname.slice(1, -1) ?? null;
  if (unsafe.test(text)) return null;
  const name = domainToASCII(text).replace(/\.$/, "");
  return isIPv4(name) || (labels.test(name) && !endsInNumber(name)) ? name : null;
}

/** Such a name is an address, or an attempt at one. */
function endsInNumber(name: string): boolean {
  return /(^|\.)(0x[0-9a-f]*|[0-9]+)$/.test(name);
}

/** Reads a host entry; a text in its place is what is wrong with it. */
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
  { isWildcard, isPrivate }: Pick<AllowedHost, "isWildcard" | "isPrivate">,
): boolean {
  if (isIP(host) !== 0) return !isWildcard;
  // A name without a dot is in a private network, or a preset with a slip.
  return host.includes(".") || isPrivate;
}

/** The hosts of entries, those of presets among them. Entries that can't be read are left out. */
export function allowedHosts(entries: readonly string[]): readonly AllowedHost[] {
  return entries
    .flatMap((entry) => presetEntries(entry) ?? [entry])
    .map(parseAllowEntry)
    .filter((parsed) => typeof parsed !== "string");
}

/** The hosts that a preset stands for; null for what is no preset. */
export function presetEntries(name: string): readonly string[] | null {
  return Object.hasOwn(networkPresets, name) ? (networkPresets[name] ?? null) : null;
}

/** The entry for a host. A name without a dot is in a private network. */
export function allowEntry({
  host,
  port,
  isPrivate = isIP(host) === 0 && !host.includes("."),
}: Pick<AllowedHost, "host" | "port"> & Partial<Pick<AllowedHost, "isPrivate">>): string {
  return `${hostAndPort({ host, port })}${isPrivate ? " private" : ""}`;
}

/** Whether the entry is for this host, in its canonical form, and port. */
export function isFor(entry: AllowedHost, host: string, port: number): boolean {
  if (entry.port !== port) return false;
  return entry.isWildcard ? host.endsWith(`.${entry.host}`) : host === entry.host;
}
