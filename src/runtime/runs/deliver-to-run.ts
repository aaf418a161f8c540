import { isRetried, type RunEvent, type WorkItem } from "../../../streams/vocabulary.ts";
import { messageOf } from "../../foundation/errors.ts";
import type { RequestContext } from "./request-context.ts";

/** The most characters of an event's text in a message. */
const maxBodyCharacters = 16_000;

/**
 * Sends waiting deliveries into the live run of their session key, for `whileRunning = "steer"`. A delivery waits in its queue
 * until the run has received it. The returned function is called after the store received an event.
 */
export function createDeliveries({
  runs,
  inbox,
  dispatch,
  onProblem,
}: Pick<RequestContext, "runs" | "inbox" | "dispatch" | "onProblem">) {
  const send = async ({ agent, session }: WorkItem): Promise<void> => {
    const run = session === undefined ? undefined : runs.ofSession(agent, session);
    if (run?.request.agent.session?.whileRunning !== "steer" || run.isEnding) return;
    const message = { instanceId: run.instanceId, kind: "delivery" } as const;
    for (const { id: triggerId, trigger } of inbox.waiting(agent, session ?? "")) {
      if (trigger.kind !== "webhook") continue;
      const { event } = trigger;
      const body = event.body?.slice(0, maxBodyCharacters) ?? null;
      const text = JSON.stringify({ ...event, body });
      const by = { via: "webhook", name: event.sender ?? event.source, from: null } as const;
      await inbox.add({ ...message, text, by, triggerId });
    }
  };
  return (event: RunEvent): void => {
    const onError = (error: unknown): void =>
      onProblem(`deliveries wait for their own runs: ${messageOf(error)}`);
    const isNew = event.type === "queued" && event.isPaused !== true;
    if (isNew || event.type === "started") send(event.item).catch(onError);
    // A retry begins with the earlier session. Messages to the lost run are not in it, so they become work again.
    if (event.type === "finished" && isRetried(event.item, event.end)) {
      inbox.putBack(event.instanceId).then(dispatch).catch(onError);
    }
  };
}
