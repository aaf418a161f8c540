import { withKey } from "../../../streams/triggers/with-key.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import type { FindAgent } from "./status-store.ts";

/** Adds concurrency keys to new work, by the configs of its agents as they are now. */
export function keyedBy(status: FindAgent) {
  return (item: WorkItem): WorkItem => withKey(item, status.agent(item.agent)?.config ?? null);
}
