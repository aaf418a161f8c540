import { PerformanceObserver } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** By then all work of the start has ended, in ms. */
const startedAfterMs = 1_000;
/** How long freed memory is kept for reuse under load, in ms. */
const keptMs = 30_000;
/** More growth than this is worth a stop of the event loop, in bytes. */
const worthBytes = 8 * 1024 * 1024;

/**
 * Returns the memory of the start to the system, and within a minute that of each burst of work: one has ended when
 * there was no garbage collection for `restMs`.
 */
export function giveMemoryBack(restMs = 12_000): void {
  let held = 0;
  const giveBack = (): void => {
    if (process.memoryUsage.rss() < held + worthBytes) return;
    collectGarbage();
    returnHoles();
    held = process.memoryUsage.rss();
  };
  setTimeout(giveBack, startedAfterMs).unref();
  const rest = setTimeout(giveBack, restMs).unref();
  let underLoad: NodeJS.Timeout | null = null;
  const observer = new PerformanceObserver(() => {
    rest.refresh();
    underLoad ??= setTimeout(() => {
      underLoad = null;
      returnHoles();
    }, keptMs).unref();
  });
  observer.observe({ entryTypes: ["gc"] });
}

/**
 * Reading a thousand agents, or a minute of deliveries, leaves some 100 MB that V8 would keep for later, which an idle
 * scheduler never needs. Stops the event loop once, for some 0.1 s with one agent and 0.2 s with a thousand.
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
