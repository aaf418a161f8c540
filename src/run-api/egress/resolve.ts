import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { createSlots } from "../slots.ts";

/** All addresses of a host, best first. May reject: it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** A caller is gone by then, in ms: its lookup must not hold up those of others. */
export const resolveMs = 15_000;

/** Lookups hold a thread of few, which files need, too; and a run with `*.example.com` has any number of slow names. */
const maxLookups = 2;

/** As this machine resolves names, its hosts file included. Literals are their own addresses. */
export function createResolve(find: Resolve = lookupAll, waitMs = resolveMs): Resolve {
  const slots = createSlots(maxLookups);
  return async (host) => {
    if (isIP(host) !== 0) return [host];
    const release = await slots.acquire(AbortSignal.timeout(waitMs));
    try {
      return await find(host);
    } finally {
      release();
    }
  };
}

async function lookupAll(host: string): Promise<readonly string[]> {
  const all = await lookup(host, { all: true, order: "verbatim" });
  return all.map(({ address }) => address);
}
