import type { RunEvent, WorkItem } from "../../streams/vocabulary.ts";
import { retryOf } from "../store/recover.ts";
import type { Work } from "../store/work.ts";

/** The work of a run that was lost while the scheduler lived, once more: committed, then handed on. */
export async function retryLost(
  event: RunEvent,
  work: Pick<Work, "requeue">,
  dispatch: (items: readonly WorkItem[]) => void,
): Promise<void> {
  if (event.type !== "finished" || event.end.outcome !== "lost") return;
  const retry = retryOf(event.item);
  if (retry === null) return;
  await work.requeue([retry]);
  dispatch([retry]);
}
