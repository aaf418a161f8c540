import type { Trigger } from "../../streams/vocabulary.ts";
import { OperationError } from "../contracts/operations.ts";
import type { ReplayResult } from "../contracts/operator-api.ts";
import { uuidV7 } from "../store/uuid-v7.ts";
import { replay, runAgain } from "./replay.ts";
import type { ReplayDeps } from "./replay.ts";
import { mustBeRunnable, mustTakeWork } from "./runnable.ts";

/**
 * Runs the work of a history entry again as new work, committed before it is dispatched. That of a webhook is read
 * from its stored delivery, as a replay of the delivery is.
 */
export async function replayTrigger(id: string, deps: ReplayDeps): Promise<ReplayResult> {
  mustTakeWork(deps);
  const original = deps.store.originals.of(id);
  if (original === undefined) {
    throw new OperationError("unknown_trigger", `there is no trigger "${id}" in the history`);
  }
  const { agent, receiptId, trigger } = original;
  if (receiptId !== null) return replay(receiptId, agent, deps, id);
  if (agent === null || trigger === null) {
    throw new OperationError("refused", `the trigger "${id}" asked no agent for a run`);
  }
  mustBeRunnable(deps, agent);
  const again = { id: uuidV7(), agent, at: Date.now(), attempt: 1, replayOf: id };
  const matched = await runAgain([{ ...again, trigger: triggerAgain(trigger) }], deps);
  return { receiptId, replayId: uuidV7(), matched, reason: null };
}

/** A replayed call is a call of its own, which no run waits for; a tick does not continue a row of reruns. */
function triggerAgain(trigger: Trigger): Trigger {
  switch (trigger.kind) {
    case "agent-call":
      return { ...trigger, callId: uuidV7(), cancelOnExit: false };
    case "cron":
      return { kind: "cron", scheduledFor: trigger.scheduledFor };
    default:
      return trigger;
  }
}
