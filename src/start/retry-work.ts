import type { RunEvent, WorkItem } from "../../streams/vocabulary.ts";
import { retryOf } from "../store/recover.ts";
import type { Work } from "../store/work.ts";

/**
 * The work of a run that was lost or interrupted, once more: committed, then dispatched. A scheduler that is being
 * stopped dispatches nothing any more, so that the work waits for the next start.
 */
export async function retryWork(
  event: RunEvent,
  work: Pick<Work, "requeue">,
  dispatch: (items: readonly WorkItem[]) => void,
): Promise<void> {
  if (event.type !== "finished") return;
  const retry = retryOf(event.item, event.end.outcome);
  if (retry === null) return;
  await work.requeue([retry]);
  dispatch([retry]);
}
