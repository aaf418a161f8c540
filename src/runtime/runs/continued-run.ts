import { outcomeText } from "../../../streams/outcomes.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { SessionStore } from "../../features/sessions/session-store.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import type { Store } from "../../foundation/store/store.ts";

interface Deps {
  readonly sessions: SessionStore;
  readonly runs: Pick<Store["runs"], "find">;
}

/** What a run is told of the run whose session it continues; undefined for a new session. */
export function continuedRun(
  { instanceId, item: { agent, session } }: RunRequest,
  { sessions, runs }: Deps,
): Job["continues"] {
  const instance = sessions.continued(instanceId)?.continues;
  if (instance === undefined) return undefined;
  const entry = runs.find(instance)?.entry;
  const key = session ?? null;
  const earlier = key === null ? [] : sessions.thread(agent, key);
  const last = earlier.find((run) => run.instanceId !== instanceId);
  return {
    instanceId: instance,
    endedAt: entry?.endedAt == null ? null : Date.parse(entry.endedAt),
    outcome: endText(entry?.outcome ?? null, entry?.reason ?? null),
    model: entry?.model ?? null,
    key,
    lost:
      last === undefined || last.instanceId === instance
        ? null
        : { instanceId: last.instanceId, outcome: endText(last.outcome, null) },
  };
}

function endText(outcome: ThreadOutcome, reason: string | null): string {
  if (outcome === null) return "unknown";
  return reason === null ? outcomeText(outcome) : `${outcomeText(outcome)}: ${reason}`;
}

type ThreadOutcome = Parameters<typeof outcomeText>[0] | null;
