import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../foundation/errors.ts";
import { runName, type ClusterEngine } from "./cluster-engine.ts";
import type { ClusterRecords } from "./cluster-runner-options.ts";

/** Time between two attempts, in ms: the first, then doubled up to the last. */
const pauseMs = { first: 1_000, last: 30_000 };
/** How long a run's end waits for its engine at most, in ms. */
const patienceMs = 5_000;

export function createLeftovers(
  engine: Pick<ClusterEngine, "remove" | "list">,
  records: Pick<ClusterRecords, "remove" | "list">,
) {
  const removeOne = async (instanceId: string): Promise<void> => {
    await engine.remove(runName(instanceId));
    await records.remove(instanceId);
  };
  return {
    /**
     * Kills a run and removes its leftovers; its record is removed last, so that the next scheduler retries a failed
     * removal. Resolves after the first attempt, or `patienceMs`; further ones follow while the engine is away.
     */
    remove: (instanceId: string) => {
      const removal = untilDone(`leftovers of ${instanceId}`, () => removeOne(instanceId));
      return Promise.race([removal, wait(patienceMs, undefined, { ref: false })]);
    },
    /** Removes the project's runs that `isLive` does not know. Resolves after the first attempt; further ones follow. */
    reap: (isLive: (instanceId: string) => boolean) =>
      untilDone("leftovers of earlier runs", async () => {
        const recorded = (await records.list()).filter((id) => !isLive(id));
        const placed = (await engine.list()).filter(({ instanceId }) => !isLive(instanceId));
        const removals = [
          ...recorded.map(removeOne),
          // The run is found by its name: each client of the engine can write an instance, which is part of a record's path.
          ...placed.map(({ name }) => engine.remove(name)),
        ];
        await Promise.all(removals);
      }),
  };
}

/** Removes leftovers of runs from an engine, which may be away. */
export type Leftovers = ReturnType<typeof createLeftovers>;

/** Resolves once the action succeeded or failed once; it is then retried until it succeeds. */
async function untilDone(
  leftovers: string,
  action: () => Promise<void>,
  nextMs = pauseMs.first,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (nextMs === pauseMs.first) {
      process.emitWarning(
        `${leftovers} stay on the cluster until it responds: ${messageOf(error)}`,
      );
    }
    const again = () => void untilDone(leftovers, action, Math.min(2 * nextMs, pauseMs.last));
    setTimeout(again, nextMs).unref();
  }
}
