/** Actions by the moment at which they are due, in epoch ms; it has no clock of its own. */
export interface Timers {
  /** Runs `action` once at `time`; returns how to cancel it. */
  at(time: number, action: () => void): () => void;
  /** Runs what is due at `now`, the earliest first; what the actions add waits for the next call. */
  fire(now: number): void;
  /** Infinity when nothing is due ever. */
  nextDue(): number;
}

interface Timer {
  readonly time: number;
  readonly action: () => void;
  /** Position in the heap, kept up to date so that cancelling costs log(n); -1 when it is not in it. */
  index: number;
  /** One that is due at the same time may cancel it. */
  isCancelled: boolean;
}

/** No timers at first; they form a binary heap by time. */
export function createTimers(): Timers {
  const heap: Timer[] = [];
  const takeDue = (now: number): readonly Timer[] => {
    const due: Timer[] = [];
    for (let first = heap[0]; first !== undefined && first.time <= now; first = heap[0]) {
      removeAt(heap, 0);
      due.push(first);
    }
    return due;
  };
  return {
    at: (time, action) => {
      const timer: Timer = { time, action, index: heap.length, isCancelled: false };
      heap.push(timer);
      siftUp(heap, timer);
      return () => {
        timer.isCancelled = true;
        if (timer.index >= 0) removeAt(heap, timer.index);
      };
    },
    fire: (now) => {
      for (const timer of takeDue(now)) if (!timer.isCancelled) timer.action();
    },
    nextDue: () => heap[0]?.time ?? Infinity,
  };
}

function put(heap: Timer[], timer: Timer, index: number): void {
  heap[index] = timer;
  timer.index = index;
}

function siftUp(heap: Timer[], timer: Timer): void {
  let index = timer.index;
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || parent.time <= timer.time) break;
    put(heap, parent, index);
    index = parentIndex;
  }
  put(heap, timer, index);
}

function siftDown(heap: Timer[], timer: Timer): void {
  let index = timer.index;
  for (;;) {
    const left = heap[2 * index + 1];
    const right = heap[2 * index + 2];
    const child =
      right !== undefined && left !== undefined && right.time < left.time ? right : left;
    if (child === undefined || child.time >= timer.time) break;
    const childIndex = child.index;
    put(heap, child, index);
    index = childIndex;
  }
  put(heap, timer, index);
}

function removeAt(heap: Timer[], index: number): void {
  const removed = heap[index];
  const last = heap.pop();
  if (removed === undefined || last === undefined) return;
  removed.index = -1;
  if (last === removed) return;
  put(heap, last, index);
  siftUp(heap, last);
  siftDown(heap, last);
}
