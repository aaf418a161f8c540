import { asyncScheduler, defer, map, observeOn, retry } from "rxjs";
import type { StoredWork } from "../../../streams/runs/hold-work.ts";
import type { SchedulerContext } from "../context.ts";
import { messageOf } from "../errors.ts";

/** How long until the store is read again after it failed, in ms. */
const retryMs = 1000;

/** Work that waits in the store. Each part is read after the commit of the writes that the part before it caused. */
export function createStoredWork({
  store: { waitingWork, settings },
  warn,
}: Pick<SchedulerContext, "store" | "warn">): StoredWork {
  return {
    after: (place) =>
      defer(() => waitingWork.committed()).pipe(
        // Callers dispatch work within the turn of its commit: at the start of another turn, all of it was dispatched.
        observeOn(asyncScheduler),
        map(() => waitingWork.after(place)),
        retry({ delay: retryMs }),
      ),
    released: () => {
      settings.recordWorkReleased().catch((error: unknown) => warn(messageOf(error)));
    },
  };
}
