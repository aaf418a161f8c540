import { FairQueue } from "../../foundation/contracts/fair-queue.ts";

/** How a resource is divided among runs, in any unit: bytes, lookups, connections. */
export interface ShareLimits {
  readonly total: number;
  /** The most that one owner holds at a time. Larger requests are not allowed. */
  readonly perOwner: number;
  /** An owner gets this much even while others hold the total. */
  readonly assured?: number;
  /** How many requests of one owner may wait; further ones are rejected. */
  readonly maxWaiting?: number;
  /** The error of a request that is one too many. */
  readonly tooMany?: () => Error;
}

/** Releases a part, or the rest by default; may be called any number of times. */
export type Release = (part?: number) => void;

interface Waiter {
  readonly amount: number;
  readonly give: () => void;
}

/** A semaphore with a share for each owner, such as a run; waiting owners take turns. */
export function createShares({
  total,
  perOwner,
  assured = 0,
  maxWaiting = Infinity,
  tooMany = () => new Error("too many requests wait"),
}: ShareLimits) {
  const held = new Map<string, number>();
  const queue = new FairQueue<Waiter>();
  let free = total;

  const change = (owner: string, amount: number): void => {
    const now = (held.get(owner) ?? 0) + amount;
    free -= amount;
    if (now === 0) held.delete(owner);
    else held.set(owner, now);
  };
  const serve = (): void => {
    // A waiting request blocks those behind it: otherwise a large request would wait forever.
    let isOpen = true;
    const fits = ({ amount }: Waiter, owner: string): boolean => {
      const wanted = (held.get(owner) ?? 0) + amount;
      if (wanted > perOwner) return false;
      if (wanted <= assured || (isOpen && amount <= free)) return true;
      return (isOpen = false);
    };
    for (let next = queue.take(fits); next !== undefined; next = queue.take(fits)) {
      next.give();
      isOpen = true;
    }
  };
  const releaseOf = (owner: string, amount: number): Release => {
    let left = amount;
    return (part = left) => {
      const back = Math.min(part, left);
      if (back === 0) return;
      left -= back;
      change(owner, -back);
      serve();
    };
  };
  return {
    /** Rejects with the error of `tooMany`, or with the reason of `signal`. */
    acquire: (owner: string, amount: number, signal: AbortSignal): Promise<Release> =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const leave = (): void => {
          queue.delete(owner, waiter);
          reject(signal.reason as Error);
          serve();
        };
        const give = (): void => {
          signal.removeEventListener("abort", leave);
          change(owner, amount);
          resolve(releaseOf(owner, amount));
        };
        const waiter = { amount, give };
        signal.addEventListener("abort", leave, { once: true });
        queue.add(owner, waiter);
        serve();
        if (queue.count(owner) <= maxWaiting) return;
        signal.removeEventListener("abort", leave);
        queue.delete(owner, waiter);
        reject(tooMany());
      }),
  };
}
