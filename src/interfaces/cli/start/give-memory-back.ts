import { PerformanceObserver } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** By then all work of the start has ended, in ms. */
const startedAfterMs = 1_000;
/** How long freed memory is kept for reuse, in ms. */
const keptMs = 30_000;

/** Returns the memory of the start to the system, and within a minute that of each burst of work. */
export function giveMemoryBack(): void {
  setTimeout(() => {
    collectGarbage();
    returnHoles();
  }, startedAfterMs).unref();
  let timer: NodeJS.Timeout | null = null;
  const observer = new PerformanceObserver(() => {
    timer ??= setTimeout(() => {
      timer = null;
      returnHoles();
    }, keptMs).unref();
  });
  observer.observe({ entryTypes: ["gc"] });
}

/**
 * Reading a thousand agents leaves some 100 MB that V8 would keep for later, which an idle scheduler never needs. Stops
 * the event loop once, for some 0.1 s with one agent and 0.2 s with a thousand.
 */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: object) => void;
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}

/**
 * Returns the holes between blocks that are in use, which the C library of most Linux systems keeps for ever: freed
 * bodies of requests leave them. Node can't call `malloc_trim`, but SQLite calls the function that it is told to load
 * from a library. On systems without glibc the library is not found, and nothing happens.
 */
export function returnHoles(): void {
  const db = new DatabaseSync(":memory:", { allowExtension: true });
  try {
    db.loadExtension("libc.so.6", "malloc_trim");
  } catch {
    // malloc_trim returns 1 if it freed memory, which SQLite takes for an error.
  } finally {
    db.close();
  }
}
