import { meets } from "../../../streams/coordination/condition.ts";
import type { Condition, Occurrence } from "../../../streams/coordination/condition.ts";
import type { Trigger, WebhookEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { mapTexts } from "../../contracts/map-texts.ts";
import type { AbilityAnswer } from "../../contracts/run-channel.ts";

/** What may end a wait, and how the run is told of it. */
interface Told {
  readonly occurrence: Occurrence;
  readonly trigger: Record<string, unknown>;
}

/** A webhook delivery; `payload` is its JSON. */
export function deliveryAs(event: WebhookEvent, payload: unknown): Told {
  const { source } = event;
  const occurrence = { kind: "webhook", agent: null, source, event: event.event } as const;
  // Nested deeply enough, it could be parsed and yet not be written again.
  const trigger = { kind: "webhook", ...event, payload: mapTexts(payload, (text) => text) };
  return { occurrence: { ...occurrence, payload }, trigger };
}

/** A call of the agent. */
export function callAs(agent: string, call: Extract<Trigger, { kind: "agent-call" }>): Told {
  const { kind, callId, caller, callerInstance, depth, context } = call;
  const payload = jsonIn(context);
  const occurrence = { kind, agent, source: caller, event: null, payload };
  return { occurrence, trigger: { kind, callId, caller, callerInstance, depth, context } };
}

/** The answer that work in a queue gives to a wait; null when it doesn't meet it. */
export function answerFrom(
  { agent, trigger }: WorkItem,
  condition: Condition,
  payloadOf: (receiptId: string) => unknown,
): AbilityAnswer<"wait"> | null {
  if (trigger.kind === "cron" || trigger.kind === "manual") return null;
  const without =
    trigger.kind === "agent-call" ? callAs(agent, trigger) : deliveryAs(trigger.event, null);
  // A body may be large: it is read only when all else is met.
  if (!meets(without.occurrence, { ...condition, where: undefined })) return null;
  const told =
    trigger.kind === "agent-call"
      ? without
      : deliveryAs(trigger.event, payloadOf(trigger.event.receiptId));
  if (!meets(told.occurrence, condition)) return null;
  return { ok: true, timedOut: false, trigger: told.trigger };
}

/** A context is JSON if its caller wants it to be. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
