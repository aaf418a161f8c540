import { setImmediate as nextTurn } from "node:timers/promises";
import { v7 as uuidV7 } from "uuid";
import { isoTime } from "../../../streams/iso-times.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { createUnmatchedReceipts } from "../../features/webhooks/refused-deliveries.ts";
import type {
  ReplayUnmatched,
  UnmatchedDelivery,
  UnmatchedReplay,
} from "../../foundation/contracts/operator-api.ts";
import type { UnmatchedWork } from "../../foundation/store/receipts.ts";
import type { ReplayDeps } from "./replay.ts";
import { mustTakeWork } from "./runnable.ts";

/** Deliveries that start work in one answer, at most. */
const mostStarted = 50;
/** Limit of the bodies that are read again for one answer, in bytes. */
const mostBytes = 8 * 1024 * 1024;

type UnmatchedDeps = Omit<ReplayDeps, "firstEvents">;

/**
 * Matches stored deliveries that gave no agent work again, the earliest first, and starts each at most once. It stops at a
 * delivery whose agent has no room, so that no queue drops work: the rest of each queue is left to new deliveries.
 */
export async function replayUnmatched(
  { since, source, dryRun = false, after }: ReplayUnmatched,
  deps: UnmatchedDeps,
): Promise<UnmatchedReplay> {
  if (!dryRun) mustTakeWork(deps);
  const { page } = deps.store.tables(createUnmatchedReceipts);
  const place = { since: Date.parse(since), source: source ?? null, after: after ?? null };
  const { receipts, last } = page(place);
  const read = withinBytes(receipts);
  const deliveries: UnmatchedDelivery[] = [];
  let next = place.after;
  for (const { id } of read) {
    const tried = await replayOne(id, dryRun, deps);
    if (tried !== null && "fullQueue" in tried) return { deliveries, next, ...tried };
    if (tried !== null) deliveries.push(tried);
    next = id;
    if (deliveries.length === mostStarted) return { deliveries, next, fullQueue: null };
    // Each body is parsed again: other work runs in between.
    await nextTurn();
  }
  return { deliveries, next: read.length < receipts.length ? next : last, fullQueue: null };
}

/** The first receipts whose bodies may be read for one answer, at least one. */
function withinBytes<Receipt extends { readonly bytes: number }>(
  receipts: readonly Receipt[],
): readonly Receipt[] {
  let bytes = 0;
  const end = receipts.findIndex((one) => (bytes += one.bytes) > mostBytes);
  return end < 0 ? receipts : receipts.slice(0, Math.max(1, end));
}

/** The delivery with the agents that it gave work, or gives work unless it is a dry run; null for none. */
async function replayOne(
  receiptId: string,
  isDryRun: boolean,
  deps: UnmatchedDeps,
): Promise<UnmatchedDelivery | { readonly fullQueue: string } | null> {
  const work = workOf(receiptId, deps);
  if (work === null || isDryRun) return work && described(work, work.items);
  const fullQueue = withoutRoom(work.items, deps);
  if (fullQueue !== null) return { fullQueue };
  const started = await deps.store.receipts.startUnmatched(work);
  if (started.length === 0) return null;
  deps.dispatch(started);
  return described(work, started);
}

/** A stored delivery with the work of the agents that match it now; null without any. */
function workOf(receiptId: string, { store, readAgain }: UnmatchedDeps): UnmatchedWork | null {
  const receipt = store.receipts.get(receiptId);
  const read = receipt && readAgain(receipt);
  if (receipt === null || read === null || read.result.matched.length === 0) return null;
  const trigger = { kind: "webhook", event: read.event } as const;
  const matched = read.result.matched.map((agent): WorkItem => {
    const replayOf = store.originals.ofDelivery(receipt, agent);
    const item = { id: uuidV7(), agent, at: Date.now(), attempt: 1, trigger };
    return replayOf === null ? item : { ...item, replayOf };
  });
  const work = { receipt, ...read.identity, items: matched };
  const items = store.receipts.startable(work);
  return items.length === 0 ? null : { ...work, items };
}

/** An agent of this work whose queue is half full; null if there is none. */
function withoutRoom(items: readonly WorkItem[], { store, status }: UnmatchedDeps): string | null {
  const isHalfFull = ({ agent }: WorkItem): boolean => {
    const size = status.agent(agent)?.config?.queueSize ?? 0;
    return store.waitingWork.count(agent) >= Math.ceil(size / 2);
  };
  return items.find(isHalfFull)?.agent ?? null;
}

function described(
  { receipt, items: [first] }: UnmatchedWork,
  started: readonly WorkItem[],
): UnmatchedDelivery {
  const { id: receiptId, at, source } = receipt;
  const { event, action } =
    first?.trigger.kind === "webhook" ? first.trigger.event : { event: "", action: null };
  const agents = started.map(({ agent }) => agent);
  return { receiptId, at: isoTime(at), source, event, action, agents };
}
