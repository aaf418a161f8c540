import { setImmediate as nextTurn } from "node:timers/promises";
import { v7 as uuidV7 } from "uuid";
import { isoTime } from "../../../streams/iso-times.ts";
import { keyedBy } from "../../foundation/scheduler/keyed.ts";
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
  const { receipts, last } = page(Date.parse(since), source ?? null, after ?? null);
  const take = dryRun ? () => null : createRoom(deps);
  const { works, seen, fullQueue } = await worksOf(withinBytes(receipts), take, deps);
  // At once, so that they are one commit.
  const replayed = await Promise.all(works.map((work) => start(work, dryRun, deps)));
  const deliveries = replayed.filter(({ agents }) => agents.length > 0);
  if (seen === receipts.length) return { deliveries, next: last, fullQueue };
  return { deliveries, next: receipts[seen - 1]?.id ?? after ?? null, fullQueue };
}

/** The first deliveries that agents match now and have room for; `seen`: how many were compared. */
async function worksOf(
  receipts: readonly { readonly id: string }[],
  take: ReturnType<typeof createRoom>,
  deps: UnmatchedDeps,
) {
  const works: UnmatchedWork[] = [];
  for (const [seen, { id }] of receipts.entries()) {
    const work = workOf(id, deps);
    const fullQueue = work && take(work.items);
    if (fullQueue !== null || works.length === mostStarted) return { works, seen, fullQueue };
    if (work !== null) works.push(work);
    // Each body is parsed again: other work runs in between.
    await nextTurn();
  }
  return { works, seen: receipts.length, fullQueue: null };
}

/** The first receipts whose bodies may be read for one answer, at least one. */
function withinBytes<Receipt extends { readonly bytes: number }>(
  receipts: readonly Receipt[],
): readonly Receipt[] {
  let bytes = 0;
  const end = receipts.findIndex((one) => (bytes += one.bytes) > mostBytes);
  return end < 0 ? receipts : receipts.slice(0, Math.max(1, end));
}

/** The delivery with the agents that it gave work, or would give. */
async function start(work: UnmatchedWork, isDryRun: boolean, { store, dispatch }: UnmatchedDeps) {
  if (isDryRun) return described(work, work.items);
  const items = await store.receipts.startUnmatched(work);
  if (items.length > 0) dispatch(items);
  return described(work, items);
}

/** A stored delivery with the work of the agents that match it now; null without any. */
function workOf(
  receiptId: string,
  { store, status, readAgain }: UnmatchedDeps,
): UnmatchedWork | null {
  const receipt = store.receipts.get(receiptId);
  const read = receipt && readAgain(receipt);
  if (receipt === null || read === null || read.result.matched.length === 0) return null;
  const trigger = { kind: "webhook", event: read.event } as const;
  const matched = read.result.matched.map((agent): WorkItem => {
    const replayOf = store.originals.ofDelivery(receipt, agent);
    const own = { id: uuidV7(), agent, at: Date.now(), attempt: 1, trigger };
    const item = keyedBy(status)(own);
    return replayOf === null ? item : { ...item, replayOf };
  });
  const work = { receipt, ...read.identity, items: matched };
  const items = store.receipts.startable(work);
  return items.length === 0 ? null : { ...work, items };
}

/**
 * Takes places in the queues, at most half of each: one for each item, or none and then returns an agent without room.
 */
function createRoom({ store, status }: UnmatchedDeps) {
  const left = new Map<string, number>();
  const leftOf = (agent: string): number => {
    const size = status.agent(agent)?.config?.queueSize ?? 0;
    return left.get(agent) ?? Math.ceil(size / 2) - store.waitingWork.count(agent);
  };
  return (items: readonly WorkItem[]): string | null => {
    const full = items.find(({ agent }) => leftOf(agent) <= 0);
    if (full !== undefined) return full.agent;
    for (const { agent } of items) left.set(agent, leftOf(agent) - 1);
    return null;
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
