import { createRefusedDeliveries } from "./refused-deliveries.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { RunEvent, WebhookEvent } from "../../../streams/vocabulary.ts";
import type { DeliveryCount } from "./provider.ts";
import type { RunMatch, Receipt } from "../../foundation/store/receipts.ts";
import { keyedBy } from "../../foundation/scheduler/keyed.ts";
import { webhookSecretType } from "../../foundation/credentials/credential-types.ts";
import { v7 as uuidV7 } from "uuid";
import { createGatherings } from "./gatherings.ts";
import { interpretStored } from "./interpret.ts";
import { createBrokenAgents, createMatchIndex, type MatchIndex } from "./match-index.ts";
import { createReceiver } from "./receive.ts";

/** How long a cached secret stays valid after a change on disk, in ms. */
const secretTtlMs = 1_000;

export type Webhooks = ReturnType<typeof createWebhooks>;

/**
 * Turns deliveries into committed work. `matchRuns` matches a delivery with the runs that wait for one; `count` is called
 * once for each delivery.
 */
export function createWebhooks(
  context: SchedulerContext,
  matchRuns: (event: WebhookEvent, payload: unknown) => RunMatch,
  count: (delivery: DeliveryCount) => void,
) {
  const { store, status, project$, switches, credential } = context;
  const index = createMatchIndex();
  const broken = createBrokenAgents();
  const gatherings = createGatherings(context);
  const match: MatchIndex["match"] = (source, event) =>
    broken.explain(source, index.match(source, event));
  const secretOf = ttlCache(async (reference) => {
    const { fields } = await credential(reference);
    return Object.values(fields);
  }, secretTtlMs);
  const receive = createReceiver({
    sources: () => Object.values(project$.value.webhooks),
    secretsOf: ({ type, credential: instance }) =>
      instance === null ? [] : secretOf(`${webhookSecretType(type)}:${instance}`),
    index: { match },
    matchRuns,
    keyed: keyedBy(status),
    accept: (acceptance) => store.receipts.accept(acceptance),
    gatheringOf: gatherings.gatheringOf,
    gathers: gatherings.gathers,
    dispatch: context.dispatch,
    count: (delivery) => {
      count(delivery);
      // The history has a row of it, and no agent has an event.
      if (delivery.result === "unmatched") status.apply({ type: "list", list: "triggers" });
    },
    refused: store.tables(createRefusedDeliveries).add,
    warn: context.warn,
    now: Date.now,
    newId,
  });
  return {
    receive,
    gatherings,
    /** A stored delivery as its agents would see it now; null if it can't be read. */
    readAgain: (receipt: Receipt) => {
      const read = interpretStored(receipt, project$.value.webhooks);
      if (read === null) return null;
      const { event, identity } = read;
      return { event, identity, result: match(receipt.source, read) };
    },
    /** Updates the index of agents. */
    onEvent: (event: RunEvent): void => {
      broken.onEvent(event);
      gatherings.onEvent(event);
      if (event.type === "agent-set") index.set(event.config, switches.isEnabled(event.agent));
      if (event.type === "agent-removed") index.remove(event.agent);
      if (event.type === "agent-enabled") index.setEnabled(event.agent, event.enabled);
    },
  };
}

const random = new Uint8Array(16 * 256);
let used = random.length;

/** A UUID v7. Asking for the random bytes of one takes longer than all the rest: a delivery takes those of many at once. */
function newId(): string {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  return uuidV7({ random: random.subarray(used, (used += 16)) });
}

/**
 * Reads each key at most once in `ttlMs`, so that a burst of deliveries costs one read and a secret that changed on disk
 * is used soon after; a failed read is not cached.
 */
function ttlCache<T>(
  read: (key: string) => Promise<T>,
  ttlMs: number,
): (key: string) => Promise<T> {
  const known = new Map<string, { readonly at: number; readonly value: Promise<T> }>();
  return (key) => {
    const hit = known.get(key);
    if (hit !== undefined && Date.now() - hit.at < ttlMs) return hit.value;
    const value = read(key);
    known.set(key, { at: Date.now(), value });
    value.catch(() => known.delete(key));
    return value;
  };
}
