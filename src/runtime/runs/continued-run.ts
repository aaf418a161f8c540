import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { SessionStore } from "../../features/sessions/session-store.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import type { Store } from "../../foundation/store/store.ts";

/** Facts for a run about the run whose session it continues; undefined for a new session. */
export function continuedRun(
  { instanceId, item }: RunRequest,
  sessions: SessionStore,
  runs: Pick<Store["runs"], "find">,
): Job["continues"] {
  const earlier = sessions.continued(instanceId);
  if (earlier === null) return undefined;
  const {
    outcome = null,
    reason = null,
    endedAt = null,
    model = null,
  } = runs.find(earlier)?.entry ?? {};
  const key = item.session ?? null;
  const thread = key === null ? [] : sessions.thread(item.agent, key);
  const last = thread.find((run) => run.instanceId !== instanceId);
  return {
    instanceId: earlier,
    endedAt,
    outcome: endText(outcome, reason),
    model,
    key,
    lost:
      last === undefined || last.instanceId === earlier
        ? null
        : { instanceId: last.instanceId, outcome: endText(last.outcome, null) },
  };
}

function endText(outcome: string | null, reason: string | null): string {
  return [outcome ?? "unknown", reason].filter((text) => text !== null).join(": ");
}
