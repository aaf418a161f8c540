import type { RunEvent, WebhookEvent, WorkItem } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import type {
  Delivery,
  DeliveryAnswer,
  DeliveryCount,
} from "../foundation/contracts/operations.ts";
import type { RunMatch, Receipt } from "../foundation/contracts/webhook-receipts.ts";
import { loadCredential } from "../foundation/credentials/load-credential.ts";
import { webhookSecretType } from "../foundation/credentials/credential-types.ts";
import { v7 as uuidV7 } from "uuid";
import { interpretStored } from "../features/webhooks/interpret.ts";
import { createMatchIndex } from "../features/webhooks/match-index.ts";
import type { MatchIndex } from "../features/webhooks/match-index.ts";
import { createReceiver } from "../features/webhooks/receive.ts";
import { createBrokenAgents } from "../features/webhooks/broken-agents.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import type { ReadAgain } from "../interfaces/operations/replay.ts";
import type { Switches } from "../runtime/scheduler/switches.ts";

/** A secret that changed on disk is used after this, in ms. */
const secretTtlMs = 1_000;

export interface WebhooksDeps {
  readonly own: Pick<ProjectHandle, "home" | "redactor" | "store">;
  readonly project$: { readonly value: ProjectConfig };
  readonly switches: Pick<Switches, "isEnabled">;
  /** Matches a delivery with the runs that wait for one. */
  readonly matchRuns: (event: WebhookEvent, payload: unknown) => RunMatch;
  readonly dispatch: (items: readonly WorkItem[]) => void;
  readonly count: (delivery: DeliveryCount) => void;
  readonly warn: (message: string) => void;
}

export interface Webhooks {
  readonly receive: (delivery: Delivery) => Promise<DeliveryAnswer>;
  /** A stored delivery as its agents would see it now; null when it can't be read any more. */
  readonly readAgain: (receipt: Receipt) => ReadAgain | null;
  /** Keeps the index of agents by what they match. */
  onEvent(event: RunEvent): void;
}

/** Creates the way of a delivery to committed work. */
export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { own, switches } = deps;
  const index = createMatchIndex();
  const broken = createBrokenAgents();
  const match: MatchIndex["match"] = (source, event) =>
    broken.explain(source, index.match(source, event));
  const secretOf = ttlCache(async (reference) => {
    const { fields } = await loadCredential(own.home, reference);
    own.redactor.add(Object.values(fields));
    return Object.values(fields);
  }, secretTtlMs);
  const receive = createReceiver({
    sources: () => Object.values(deps.project$.value.webhooks),
    secretsOf: ({ type, credential }) =>
      credential === null ? [] : secretOf(`${webhookSecretType(type)}:${credential}`),
    index: { match },
    matchRuns: deps.matchRuns,
    accept: (acceptance) => own.store.receipts.accept(acceptance),
    dispatch: deps.dispatch,
    count: deps.count,
    refused: (delivery) => own.store.refused.add(delivery),
    warn: deps.warn,
    now: Date.now,
    newId: uuidV7,
  });
  return {
    receive,
    readAgain: (receipt) => {
      const read = interpretStored(receipt);
      return read && { event: read.event, result: match(receipt.source, read) };
    },
    onEvent: (event) => {
      broken.onEvent(event);
      if (event.type === "agent-set") index.set(event.config, switches.isEnabled(event.agent));
      if (event.type === "agent-removed") index.remove(event.agent);
      if (event.type === "agent-enabled") index.setEnabled(event.agent, event.enabled);
    },
  };
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
