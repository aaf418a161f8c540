import { Problem } from "../../foundation/errors.ts";
import { setTimeout as wait } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { rateLimitedWarnings } from "../../foundation/contracts/rate-limited-warnings.ts";
import { isSameSecret } from "../../foundation/contracts/request-limit.ts";
import type { GatewayDeps } from "./deps.ts";
import { isOnPrivateHost } from "./known-hosts.ts";

/**
 * Whether a request showed the API key, or a live API token (`isToken`). A wrong key is answered late. After too many
 * wrong ones, rejects with a 429 problem without checking the key.
 */
export type CheckKey = (
  request: FastifyRequest,
  key: string,
  isToken?: boolean,
) => Promise<boolean>;

interface Timing {
  /** Monotonic ms: a wall clock set back would prolong the window in which wrong keys are counted. */
  readonly now?: () => number;
  /** How long the answer to a wrong key takes, in ms. */
  readonly lateMs?: number;
}

const windowMs = 10_000;
/** Wrong keys of an address in a window that are answered without delay: mistakes. */
const answeredAtOnce = 4;
/** Wrong keys in a window: twenty a second from one address. A slower guesser does not lock the owner out. */
const maxOfAddress = 200;
const maxOfAll = 600;

/** One limit for both ways to send the key, and for API tokens: the login and `Authorization: Bearer`. */
export function createKeyCheck(
  deps: GatewayDeps,
  { now = () => performance.now(), lateMs = 2_000 }: Timing = {},
): CheckKey {
  const warn = rateLimitedWarnings((message) => deps.log(40, message), now);
  const wrong = new Map<string, number>();
  let windowEnds = 0;
  let ofAll = 0;
  return async (request, key, isToken = false) => {
    if (now() >= windowEnds) {
      windowEnds = now() + windowMs;
      wrong.clear();
      ofAll = 0;
    }
    const from = network(request.ip);
    const before = wrong.get(from) ?? 0;
    const isFull = before >= maxOfAddress || ofAll >= maxOfAll;
    // Only people who had the key know that host's name.
    if (isFull && !isOnPrivateHost(request, deps)) throw tooMany(windowEnds - now());
    if (isSameSecret(key, deps.apiKey()) || isToken) return true;
    wrong.set(from, before + 1);
    ofAll += 1;
    warn(
      "wrong key",
      `the gateway refused a wrong API key, or an unknown or removed API token, from ${from}`,
    );
    if (before >= answeredAtOnce) await wait(lateMs);
    return false;
  };
}

function tooMany(ms: number): Problem {
  const seconds = Math.ceil(ms / 1000);
  const headers = { "retry-after": String(seconds) };
  return new Problem(
    "too_many_tries",
    `Too many wrong keys; wait ${seconds} s and try again, or use the link that al open makes.`,
    { headers },
  );
}

/** One household has 2^64 IPv6 addresses: its first half stands for all of them. */
function network(address: string | undefined): string {
  // The operator's socket has no addresses.
  if (address === undefined) return "this user";
  if (!address.includes(":") || address.startsWith("::ffff:")) return address;
  const [head = "", tail = ""] = address.split("::");
  const [before, after] = [head.split(":"), tail.split(":")];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  const groups = address.includes("::") ? [...before, ...zeros, ...after] : before;
  return groups.slice(0, 4).join(":");
}
