/** Waiters of several owners, who take turns: the first waiter of an owner is one round away, however many others have. */
export class FairQueue<T> {
  /** Owners in the order of their turns; an owner without waiters has no entry. */
  readonly #owners = new Map<string, Set<T>>();

  add(owner: string, waiter: T): void {
    const waiters = this.#owners.get(owner) ?? new Set();
    this.#owners.set(owner, waiters.add(waiter));
  }

  delete(owner: string, waiter: T): void {
    const waiters = this.#owners.get(owner);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#owners.delete(owner);
  }

  /** Owners with waiters. */
  get size(): number {
    return this.#owners.size;
  }

  /** How many waiters the owner has. */
  count(owner: string): number {
    return this.#owners.get(owner)?.size ?? 0;
  }

  /** How many waiters may come before a new one of the owner. */
  ahead(owner: string): number {
    const own = this.count(owner);
    let ahead = own;
    for (const [name, { size }] of this.#owners)
      if (name !== owner) ahead += Math.min(size, own + 1);
    return ahead;
  }

  /** Removes the next waiter that fits, in the order of turns, and returns it. Its owner's next turn comes after all others'. */
  take(fits: (waiter: T, owner: string) => boolean = () => true): T | undefined {
    for (const [owner, waiters] of this.#owners) {
      const [first] = waiters;
      if (first === undefined || !fits(first, owner)) continue;
      waiters.delete(first);
      this.#owners.delete(owner);
      if (waiters.size > 0) this.#owners.set(owner, waiters);
      return first;
    }
    return undefined;
  }
}
