import type { Occurrence } from "../../foundation/contracts/condition.ts";
import type { Trigger, WebhookEvent } from "../../../streams/vocabulary.ts";
import { mapTexts } from "../../foundation/contracts/map-texts.ts";

/** A delivery or a call that may end a wait. */
export interface WaitedFor {
  readonly occurrence: Occurrence;
  /** As the answer to a wait holds it; called only for a wait that it ends, since a payload may be large. */
  readonly trigger: () => Readonly<Record<string, unknown>>;
}

/** A webhook delivery; `payload` is its JSON. */
export function deliveryAs(event: WebhookEvent, payload: unknown): WaitedFor {
  const { source } = event;
  return {
    occurrence: { kind: "webhook", agent: null, source, event: event.event, payload },
    // Nested deeply enough, it could be parsed and yet not be written again.
    trigger: () => ({ kind: "webhook", ...event, payload: mapTexts(payload, (text) => text) }),
  };
}

/** A call of the agent. */
export function callAs(agent: string, call: Extract<Trigger, { kind: "agent-call" }>): WaitedFor {
  const { kind, callId, caller, callerInstance, depth, context } = call;
  return {
    occurrence: { kind, agent, source: caller, event: null, payload: jsonIn(context) },
    trigger: () => ({ kind, callId, caller, callerInstance, depth, context }),
  };
}

/** A context is JSON if its caller wants it to be. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
