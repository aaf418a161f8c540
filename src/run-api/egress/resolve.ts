import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { createSlots } from "../slots.ts";

/** All addresses of a host, best first. May reject: it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Lookups hold a thread of few, which files need, too; and a run with `*.example.com` has any number of slow names. */
const maxLookups = 2;

/** As this machine resolves names, its hosts file included. Literals are their own addresses. */
export function createResolve(): Resolve {
  const slots = createSlots(maxLookups);
  const never = new AbortController().signal;
  return async (host) => {
    if (isIP(host) !== 0) return [host];
    const release = await slots.acquire(never);
    try {
      const all = await lookup(host, { all: true, order: "verbatim" });
      return all.map(({ address }) => address);
    } finally {
      release();
    }
  };
}
