import { queryObjects } from "node:v8";

/**
 * Objects that are still reachable, of any kind: functions, subscribers, maps, timers, sockets and their owners are among
 * them.
 */
export async function liveObjects(): Promise<number> {
  // Listeners of a collected signal are released by finalizers, so objects behind them need a later collection.
  for (let round = 0; round < 3; round += 1) await finalized();
  return queryObjects(Object, { format: "count" });
}

/** Collects garbage; resolves when finalizers have run. */
function finalized(): Promise<unknown> {
  return new Promise((resolve) => {
    const registry = new FinalizationRegistry(() => resolve(registry));
    registry.register({}, null);
    queryObjects(Object, { format: "count" });
  });
}
