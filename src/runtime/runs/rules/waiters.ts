import type { Timers } from "../../../../streams/timers.ts";
import type { WaitGraph, WaitsFor } from "./wait-graph.ts";

interface Waiter<R> {
  readonly request: R;
  readonly instanceId: string;
}

/** The requests that wait for locks or for calls. `onTimeout` gets a waiter that timed out and still waits. */
export function createWaiters<R, W extends Waiter<R>>(
  graph: WaitGraph,
  timers: Timers,
  onTimeout: (waiter: W) => void,
) {
  const waiting = new Map<R, { readonly waiter: W; readonly release: () => void }>();
  return {
    of: (request: R): W | undefined => waiting.get(request)?.waiter,
    ofRun: (instanceId: string): readonly W[] =>
      [...waiting.values()].flatMap(({ waiter }) =>
        waiter.instanceId === instanceId ? [waiter] : [],
      ),
    /** Waits until a time, epoch ms; null for as long as it takes. Returns the path of the deadlock that it would be, or null. */
    join: (waiter: W, until: number | null, waitsFor: WaitsFor): readonly string[] | null => {
      const path = graph.cycle(waiter.instanceId, waitsFor);
      if (path !== null) return path;
      const leaveGraph = graph.add(waiter.instanceId, waitsFor);
      const cancelTimer = until === null ? null : timers.at(until, () => onTimeout(waiter));
      const release = (): void => {
        leaveGraph();
        cancelTimer?.();
      };
      waiting.set(waiter.request, { waiter, release });
      return null;
    },
    leave: ({ request }: W) => {
      waiting.get(request)?.release();
      waiting.delete(request);
    },
  };
}
