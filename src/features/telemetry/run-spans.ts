import { type Outcome, isError } from "../../../streams/outcomes.ts";
import { triggerNames } from "../../../streams/vocabulary.ts";
import type { RemoteSpan, RunEnd, WorkItem } from "../../../streams/vocabulary.ts";
import { attributes, type Attributes, type Span } from "./span.ts";
import { runSpanId, traceIdOf, triggerSpanId } from "./trace-ids.ts";

/** An ended run. */
export interface EndedRun {
  readonly item: WorkItem;
  readonly instanceId: string;
  /** Epoch ms. */
  readonly startedAt: number;
  /** Epoch ms. */
  readonly at: number;
  readonly end: Pick<RunEnd, "outcome" | "reason" | "usage">;
}

/** The spans of an ended run and of its trigger. `content` is added to the run's attributes. */
export function runSpans(
  { item, instanceId, startedAt, at, end }: EndedRun,
  content: Attributes = {},
): readonly [trigger: Span, run: Span] {
  const trigger = triggerSpan(item, at, end);
  const { usage, outcome } = end;
  const run: Span = {
    ...trigger,
    spanId: runSpanId(instanceId),
    parentId: trigger.spanId,
    name: `invoke_agent ${item.agent}`,
    kind: "internal",
    startMs: startedAt,
    endMs: Math.max(startedAt, at),
    attributes: {
      ...attributes({
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": item.agent,
        "gen_ai.conversation.id": instanceId,
        "gen_ai.request.model": usage?.model,
        "al.run.id": instanceId,
        "al.run.attempt": item.attempt,
        "al.run.tokens": usage?.tokens,
        "al.run.turns": usage?.turns,
        "al.cost.usd": usage?.costUsd,
        ...endAttributes(end),
        "error.type": trigger.error === null ? null : outcome,
      }),
      ...content,
    },
    links: [],
  };
  return [trigger, run];
}

/** How a trigger ended: as its run did, or why it never became one. */
interface TriggerEnd {
  readonly outcome: Outcome | "taken";
  readonly reason: string | null;
}

/** The span of a trigger: from its arrival to the end of its run, or of its wait. `at` is epoch ms. */
export function triggerSpan(item: WorkItem, at: number, end: TriggerEnd): Span {
  const { trigger, agent } = item;
  const error = errorOf(end);
  return {
    traceId: traceIdOf(item),
    spanId: triggerSpanId(item.id),
    parentId: trigger.kind === "agent-call" ? runSpanId(trigger.callerInstance) : null,
    name: `${triggerNames[trigger.kind]} ${agent}`,
    kind: trigger.kind === "webhook" ? "consumer" : "internal",
    startMs: item.at,
    endMs: Math.max(item.at, at),
    attributes: attributes({
      "gen_ai.agent.name": agent,
      "al.trigger.id": item.id,
      "al.trigger.kind": trigger.kind,
      "al.webhook.source": trigger.kind === "webhook" ? trigger.event.source : null,
      "al.webhook.receipt": trigger.kind === "webhook" ? trigger.event.receiptId : null,
      ...endAttributes(end),
      "error.type": error === null ? null : end.outcome,
    }),
    links: linksOf(item),
    error,
  };
}

function endAttributes({ outcome, reason }: TriggerEnd): Attributes {
  return attributes({ "al.outcome": outcome, "al.reason": reason });
}

function errorOf({ outcome, reason }: TriggerEnd): string | null {
  if (outcome === "taken" || !isError(outcome)) return null;
  return [outcome, ...(reason ? [reason] : [])].join(": ");
}

/**
 * The sender of a webhook is linked: as a parent it would choose the trace, and a stranger may have sent it. A replay is
 * linked to the trigger that it repeats.
 */
function linksOf({ trigger, replayOf }: WorkItem): readonly RemoteSpan[] {
  const sender = trigger.kind === "webhook" ? trigger.sender : undefined;
  const replayed = replayOf !== undefined && {
    traceId: traceIdOf({ id: replayOf, trigger }),
    spanId: triggerSpanId(replayOf),
  };
  return [...(sender ? [sender] : []), ...(replayed ? [replayed] : [])];
}
