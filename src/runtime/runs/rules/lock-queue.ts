/** A waiter in a queue, which sets its neighbours. */
export interface QueuedWaiter {
  readonly instanceId: string;
  ahead: QueuedWaiter | null;
  behind: QueuedWaiter | null;
}

/** The waiters for one lock, first come first served. Joining and leaving cost the same however many wait. */
export interface LockQueue<W extends QueuedWaiter> {
  first(): W | null;
  join(waiter: W): void;
  leave(waiter: W): void;
}

/** An empty queue, as a list whose members know their neighbours: one that leaves need not be searched for. */
export function createLockQueue<W extends QueuedWaiter>(): LockQueue<W> {
  let first: QueuedWaiter | null = null;
  let last: QueuedWaiter | null = null;
  return {
    first: () => first as W | null,
    join: (waiter) => {
      waiter.ahead = last;
      if (last === null) first = waiter;
      else last.behind = waiter;
      last = waiter;
    },
    leave: (waiter) => {
      const { ahead, behind } = waiter;
      if (ahead === null) first = behind;
      else ahead.behind = behind;
      if (behind === null) last = ahead;
      else behind.ahead = ahead;
      waiter.ahead = waiter.behind = null;
    },
  };
}

/** The next one ahead that is another run: no run waits for itself. */
export function otherAhead({ instanceId, ahead }: QueuedWaiter): string | null {
  let other = ahead;
  while (other !== null && other.instanceId === instanceId) other = other.ahead;
  return other?.instanceId ?? null;
}
