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
  let next = after ?? null;
  const { receipts, last } = page(Date.parse(since), source ?? null, next);
  const read = withinBytes(receipts);
  const room = createRoom(deps);
  const works: UnmatchedWork[] = [];
  let fullQueue: string | null = null;
  for (const { id } of read) {
    const work = workOf(id, deps);
    if (!dryRun) fullQueue = room.take(work?.items ?? []);
    if (fullQueue !== null || works.length === mostStarted) break;
    if (work !== null) works.push(work);
    next = id;
    // Each body is parsed again: other work runs in between.
    await nextTurn();
  }
  const isEnd = fullQueue === null && next === (receipts.at(-1)?.id ?? next);
  // At once, so that they are one commit.
  const started = await Promise.all(works.map((work) => (dryRun ? work.items : start(work, deps))));
  const all = works.map((work, index) => described(work, started[index] ?? []));
  const deliveries = all.filter(({ agents }) => agents.length > 0);
  return { deliveries, next: isEnd ? last : next, fullQueue };
}

/** The first receipts whose bodies may be read for one answer, at least one. */
function withinBytes<Receipt extends { readonly bytes: number }>(
  receipts: readonly Receipt[],
): readonly Receipt[] {
  let bytes = 0;
  const end = receipts.findIndex((one) => (bytes += one.bytes) > mostBytes);
  return end < 0 ? receipts : receipts.slice(0, Math.max(1, end));
}

async function start(work: UnmatchedWork, { store, dispatch }: UnmatchedDeps) {
  const items = await store.receipts.startUnmatched(work);
  if (items.length > 0) dispatch(items);
  return items;
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

/** The places that a replay may take in the queues: half of each. */
function createRoom({ store, status }: UnmatchedDeps) {
  const left = new Map<string, number>();
  const leftOf = (agent: string): number => {
    const size = status.agent(agent)?.config?.queueSize ?? 0;
    return left.get(agent) ?? Math.ceil(size / 2) - store.waitingWork.count(agent);
  };
  return {
    /** Takes a place for each item; returns an agent without room, and then takes none. */
    take: (items: readonly WorkItem[]): string | null => {
      const full = items.find(({ agent }) => leftOf(agent) <= 0);
      if (full !== undefined) return full.agent;
      for (const { agent } of items) left.set(agent, leftOf(agent) - 1);
      return null;
    },
  };
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
