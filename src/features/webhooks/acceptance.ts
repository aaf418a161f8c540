import type { RemoteSpan, Trigger, WebhookEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { GatheringOptions } from "../../foundation/store/gatherings.ts";
import type { Acceptance, DeadLetter, WaitingRun } from "../../foundation/store/receipts.ts";
import { keptHeaders, type Identity } from "./interpret.ts";
import type { Payload } from "./json.ts";
import type { MatchResult } from "./match-index.ts";
import type { Provider, Request } from "./provider.ts";
import { header } from "./signature.ts";

const disabledReason = "agent disabled";

/** A delivery that was verified, read and matched. `at` is epoch ms. */
export interface Matched {
  readonly provider: Provider;
  readonly delivery: Request;
  readonly payload: Payload;
  readonly event: WebhookEvent;
  readonly identity: Identity;
  readonly result: MatchResult;
  /** Runs that waited for the delivery; their agents get no new run. */
  readonly waitingRuns: readonly WaitingRun[];
  readonly at: number;
  /** How a delivery gathers for an agent's run; null if it starts its own. */
  readonly gatheringOf: (agent: string, trigger: Trigger) => GatheringOptions | null;
}

/**
 * The writes of one delivery: its receipt, a work item for each agent, even if a waiting run takes it, and a dead letter
 * if no agent ran. `keyed` adds the concurrency key of an item.
 */
export function acceptanceOf(
  matched: Matched,
  newId: () => string,
  keyed: (item: WorkItem) => WorkItem = (item) => item,
): Acceptance {
  const { provider, delivery, payload, event, identity, result } = matched;
  const { waitingRuns, at, gatheringOf } = matched;
  const sender = parseTraceparent(header(delivery.headers, "traceparent"));
  const trigger = { kind: "webhook", event, ...(sender && { sender }) } as const;
  const itemOf = (agent: string): WorkItem =>
    keyed({ id: newId(), agent, at, attempt: 1, trigger });
  const taking = new Set(waitingRuns.map(({ agent }) => agent));
  const started = result.matched.filter((agent) => !taking.has(agent));
  const gatherings = result.matched.flatMap((agent) => {
    const options = gatheringOf(agent, trigger);
    return options === null ? [] : [[agent, options] as const];
  });
  const reason = waitingRuns.length > 0 ? null : result.reason;
  return {
    receipt: {
      id: event.receiptId,
      at,
      source: event.source,
      type: event.type,
      deliveryId: provider.deliveryId(payload, delivery.headers),
      headers: keptHeaders(provider, delivery.headers),
      body: delivery.body,
      matched: [...started, ...taking],
      reason: reason ?? disabledOnly(result.disabled),
    },
    ...identity,
    items: started.map(itemOf),
    taken: waitingRuns.map((by) => ({
      item: itemOf(by.agent),
      by,
      startsRun: result.matched.includes(by.agent),
    })),
    deadLetters: deadLetters(matched, newId),
    ...(gatherings.length > 0 && { gatherings: new Map(gatherings) }),
  };
}

function disabledOnly(agents: readonly string[]): string | null {
  return agents.length === 0 ? null : `${disabledReason}: ${agents.join(", ")}`;
}

/** One for each disabled agent that matched, else one for a delivery without a match. */
function deadLetters(
  { event, result, waitingRuns, at }: Matched,
  newId: () => string,
): DeadLetter[] {
  const letter = (agent: string | null, reason: string): DeadLetter => ({
    id: newId(),
    at,
    kind: "webhook",
    outcome: "rejected",
    agent,
    source: event.source,
    event: event.event,
    action: event.action,
    receiptId: event.receiptId,
    reason,
  });
  if (result.reason !== null) return waitingRuns.length > 0 ? [] : [letter(null, result.reason)];
  return result.disabled
    .filter((agent) => !waitingRuns.some((waitingRun) => waitingRun.agent === agent))
    .map((agent) => letter(agent, disabledReason));
}

/** Parses a `traceparent` header (https://www.w3.org/TR/trace-context); null if it is invalid. */
function parseTraceparent(header: string | null): RemoteSpan | null {
  const [, traceId = "", spanId = ""] =
    /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header ?? "") ?? [];
  return traceId === "" ? null : { traceId, spanId };
}
