import { isRetried, type RunEvent, type WorkItem } from "../../../streams/vocabulary.ts";
import { messageOf } from "../../foundation/errors.ts";
import type { Person } from "../../foundation/contracts/questions.ts";
import { shortEvent } from "../harness/prompt.ts";
import type { LiveRun } from "./live-run.ts";
import type { RequestContext } from "./request-context.ts";

type Deps = Pick<RequestContext, "runs" | "inbox" | "dispatch" | "onProblem">;

/**
 * Sends waiting deliveries into the live run of their session key, for `whileRunning = "steer"`. A delivery stays in its queue
 * until the run has received it; after a restart of the scheduler it is sent once more only if it was not stored.
 */
export function createDeliveries({ runs, inbox, dispatch, onProblem }: Deps) {
  const offer = async (agent: string, session: string): Promise<void> => {
    const run = runs.ofSession(agent, session);
    if (run === undefined || !acceptsDeliveries(run)) return;
    const { instanceId } = run;
    for (const item of inbox.waiting(agent, session)) {
      const message = { instanceId, kind: "delivery", ...messageFor(item) } as const;
      await inbox.add({ ...message, triggerId: item.id });
    }
  };
  /** A run that is tried again begins with the session before it, which has none of its deliveries. */
  const putBack = async (instanceId: string): Promise<void> => {
    dispatch(await inbox.putBack(instanceId));
  };
  const stepAt = (event: RunEvent): Promise<void> | undefined => {
    if (event.type === "finished" && isRetried(event.item, event.end))
      return putBack(event.instanceId);
    if (event.type !== "queued" && event.type !== "started") return undefined;
    const { agent, session } = event.item;
    return session === undefined ? undefined : offer(agent, session);
  };
  return {
    /** Called after the store received the event. */
    onEvent: (event: RunEvent): void => {
      const step = stepAt(event);
      step?.catch((error: unknown) =>
        onProblem(`a delivery waits for the live run of its session key: ${messageOf(error)}`),
      );
    },
  };
}

function acceptsDeliveries({ request: { agent }, isEnding, isSessionOver }: LiveRun): boolean {
  return agent.session?.whileRunning === "steer" && !isEnding && !isSessionOver;
}

function messageFor({ trigger }: WorkItem): { readonly text: string; readonly by: Person } {
  if (trigger.kind !== "webhook") return { text: "{}", by: sender("") };
  const { event } = trigger;
  const text = JSON.stringify(shortEvent(event, null));
  return { text, by: sender(event.sender ?? event.source) };
}

function sender(name: string): Person {
  return { via: "webhook", name, from: null };
}
