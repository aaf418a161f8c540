import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Limit of both halves, in bytes. By default V8 lets them grow to 128 MB. */
const limitBytes = 16 * 1024 * 1024;

/**
 * Keeps V8's young generation small. Bodies of requests are freed with their buffers' objects, at its next collection:
 * in 128 MB thousands of them wait, spread over memory that the C library then keeps for ever. In 4 MB, work that waits
 * for its commit would be promoted as old. V8 reads its limit before any program runs, but the factor of each growth
 * only when it grows: after a collection, where this is called too.
 */
export function limitYoungGeneration(): void {
  let isLimited = false;
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    const isFull = (young?.space_size ?? 0) >= limitBytes;
    if (isFull === isLimited) return;
    isLimited = isFull;
    setFlagsFromString(`--semi-space-growth-factor=${isLimited ? 1 : 2}`);
  });
  observer.observe({ entryTypes: ["gc"] });
}
