import { lookup, Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { hasCode } from "../../../foundation/errors.ts";
import { createShares } from "../shares.ts";

/** Finds all addresses of a host. May reject if it has none. */
type Find = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Finds all addresses of a host for a run. Rejects if it has none, on timeout, and with the reason of `signal`. */
export type Resolve = (
  host: string,
  instanceId: string,
  signal: AbortSignal,
) => Promise<readonly string[]>;

export interface ResolveOptions {
  readonly hostsFile: Find;
  readonly nameServers: Find;
  /** The system's resolver. */
  readonly system: Find;
  /** How long a lookup takes at most, in ms. */
  readonly timeoutMs: number;
}

/** Limited per run: with `*.example.com` allowed, a run can ask for any number of names whose servers are silent. */
const queries = { total: 128, perOwner: 16, assured: 2 };
/** Limited because a system lookup can't be cancelled and holds one of the few threads that file access needs too. */
const systemLookups = { total: 2, perOwner: 1 };

const perQuery = { timeout: 3_000, tries: 2 };
/** After these errors the system's resolver is asked: search domains or mDNS may know the name. */
const unknownToServers = ["ENOTFOUND", "ENODATA", "ECONNREFUSED"];

/**
 * Resolves names as this machine does: by its hosts file, then its name servers, then the system's resolver. Concurrent
 * lookups of a name by one run are shared. IP literals resolve to themselves.
 */
export function createResolve(options: Partial<ResolveOptions> = {}): Resolve {
  const { hostsFile = inHostsFile, nameServers = byNameServers, system = bySystem } = options;
  const { timeoutMs = 15_000 } = options;
  const asking = createShares(queries);
  const lookingUp = createShares(systemLookups);
  const open = new Map<string, Promise<readonly string[]>>();

  const sharing =
    (shares: typeof asking, find: Find): Resolve =>
    async (host, instanceId, signal) => {
      const release = await shares.acquire(instanceId, 1, signal);
      return find(host, signal).finally(release);
    };
  const queried = sharing(asking, nameServers);
  const lookedUp = sharing(lookingUp, system);
  const found: Resolve = async (host, instanceId, signal) => {
    const listed = await hostsFile(host, signal);
    if (listed.length > 0) return listed;
    if (!host.includes(".")) return lookedUp(host, instanceId, signal);
    return queried(host, instanceId, signal).catch((error: unknown) => {
      if (hasCode(error, ...unknownToServers)) return lookedUp(host, instanceId, signal);
      throw error;
    });
  };
  return (host, instanceId, runSignal) => {
    if (isIP(host) !== 0) return Promise.resolve([host]);
    const key = `${instanceId} ${host}`;
    const begun = open.get(key);
    if (begun !== undefined) return begun;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error("no answer in time")), timeoutMs);
    const signal = AbortSignal.any([runSignal, late.signal]);
    const lookup = Promise.race([found(host, instanceId, signal), rejectedAt(signal)]).finally(
      () => {
        clearTimeout(timer);
        open.delete(key);
      },
    );
    open.set(key, lookup);
    return lookup;
  };
}

function rejectedAt(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
  });
}

async function inHostsFile(host: string): Promise<readonly string[]> {
  const text = await readFile("/etc/hosts", "utf8").catch(() => "");
  if (!text.toLowerCase().includes(host)) return [];
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    return names.some((name) => name.toLowerCase() === host) ? [address] : [];
  });
}

/** Unlike the system's resolver, uses no thread and can be cancelled. A new `Resolver` rereads the server addresses. */
async function byNameServers(host: string, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver(perQuery);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    if (v4.status === "fulfilled")
      return v6.status === "fulfilled" ? [...v4.value, ...v6.value] : v4.value;
    if (v6.status === "fulfilled") return v6.value;
    throw v4.reason;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

async function bySystem(host: string): Promise<readonly string[]> {
  const all = await lookup(host, { all: true, order: "verbatim" });
  return all.map(({ address }) => address);
}
