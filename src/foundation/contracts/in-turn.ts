import { FairQueue } from "./fair-queue.ts";

/** How long bodies may take without a pause, in ms. */
const sliceMs = 10;

/** State of the module, as a process has one main thread. */
const waiting = new FairQueue<() => void>();
let spentMs = 0;
let isRenewing = false;

/**
 * Parses or serializes a body on the main thread: at once while bodies took less than 10 ms in this turn of the event
 * loop. Later ones wait for a pause as long as the time that was taken, in which others are served; owners of waiting
 * bodies take turns. Rejects with what `work` throws.
 */
export function inTurn<T>(owner: string, work: () => T): Promise<T> {
  return new Promise((resolve) => {
    // The inner promise rejects with what `work` throws.
    waiting.add(owner, () => resolve(new Promise((done) => done(work()))));
    serve();
  });
}

function serve(): void {
  while (spentMs < sliceMs) {
    const work = waiting.take();
    if (work === undefined) break;
    const began = performance.now();
    work();
    spentMs += performance.now() - began;
  }
  if (isRenewing || spentMs === 0) return;
  isRenewing = true;
  setImmediate(() => (spentMs < sliceMs ? renew() : setTimeout(renew, spentMs)));
}

function renew(): void {
  spentMs = 0;
  isRenewing = false;
  serve();
}
