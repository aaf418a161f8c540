/** Slows down guessing at the login, address by address. */
export interface LoginDelay {
  /** Seconds until this address may try again, 0 when it may now. */
  secondsToWait(address: string): number;
  failed(address: string): void;
  succeeded(address: string): void;
}

interface Attempts {
  failures: number;
  notBefore: number;
  last: number;
}

/** Mistakes that cost nothing. */
const freeFailures = 4;
const longestDelayMs = 60_000;
const forgetAfterMs = 15 * 60_000;
/** Addresses that are remembered; beyond it the oldest is forgotten, so that a flood can't fill the memory. */
const maxAddresses = 10_000;

/** After a few free tries each wrong key doubles the wait, from 1 s to 60 s. `now` is in epoch ms. */
export function createLoginDelay(now: () => number = Date.now): LoginDelay {
  const records = new Map<string, Attempts>();
  const recordOf = (address: string): Attempts => {
    const known = records.get(network(address));
    const isFresh = known !== undefined && now() - known.last < forgetAfterMs;
    return isFresh ? known : { failures: 0, notBefore: 0, last: 0 };
  };
  return {
    secondsToWait: (address) =>
      Math.max(0, Math.ceil((recordOf(address).notBefore - now()) / 1000)),
    failed(address) {
      const record = recordOf(address);
      record.failures += 1;
      record.last = now();
      record.notBefore = now() + delayMs(record.failures);
      records.delete(network(address));
      records.set(network(address), record);
      const [oldest] = records.keys();
      if (records.size > maxAddresses && oldest !== undefined) records.delete(oldest);
    },
    succeeded: (address) => void records.delete(network(address)),
  };
}

function delayMs(failures: number): number {
  const costly = failures - freeFailures;
  return costly <= 0 ? 0 : Math.min(1000 * 2 ** (costly - 1), longestDelayMs);
}

/** One household has 2^64 IPv6 addresses: its first half stands for all of them. */
function network(address: string): string {
  if (!address.includes(":") || address.startsWith("::ffff:")) return address;
  const [head = "", tail = ""] = address.split("::");
  const [before, after] = [head.split(":"), tail.split(":")];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  const groups = address.includes("::") ? [...before, ...zeros, ...after] : before;
  return groups.slice(0, 4).join(":");
}
