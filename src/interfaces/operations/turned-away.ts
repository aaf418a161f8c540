import { setImmediate as nextTurn } from "node:timers/promises";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { TurnedAway, WhyNot } from "../../foundation/contracts/why-not.ts";
import type { Store } from "../../foundation/store/store.ts";
import { interpretStored } from "../../features/webhooks/interpret.ts";
import { mismatchesOf } from "../../features/webhooks/mismatches.ts";

/** Bodies that are read again for one answer. */
const mostBytes = 8 * 1024 * 1024;

export interface TurnedAwayDeps {
  readonly store: Pick<Store, "unmatched"> & { readonly receipts: Pick<Store["receipts"], "get"> };
}

/**
 * The stored deliveries that an agent's filters turn away, with what stops each. They are compared with its config when
 * they are asked for: a delivery costs nothing more when it arrives, however many agents don't want it. `since` is epoch
 * ms.
 */
export async function turnedAway(
  { name, webhooks }: Pick<AgentConfig, "name" | "webhooks">,
  { since, limit }: { readonly since: number; readonly limit: number },
  { store }: TurnedAwayDeps,
): Promise<Pick<WhyNot, "turnedAway" | "lookedBackTo">> {
  const sources = [...new Set(webhooks.map(({ source }) => source))];
  if (sources.length === 0) return { turnedAway: [], lookedBackTo: null };
  const found = store.unmatched.of(name, { sources, since, limit: limit + 1 });
  const shown: TurnedAway[] = [];
  let bytes = 0;
  for (const receipt of found.slice(0, limit)) {
    bytes += receipt.bytes;
    if (bytes > mostBytes) return { turnedAway: shown, lookedBackTo: iso(receipt.at) };
    const one = compared({ name, webhooks }, receipt.id, store);
    if (one !== null) shown.push(one);
    // Each is parsed again: all else goes on in between.
    await nextTurn();
  }
  const next = found[limit]?.at ?? store.unmatched.firstLeftOut(since);
  return { turnedAway: shown, lookedBackTo: next === null ? null : iso(next) };
}

function compared(
  agent: Pick<AgentConfig, "name" | "webhooks">,
  receiptId: string,
  { receipts }: TurnedAwayDeps["store"],
): TurnedAway | null {
  const receipt = receipts.get(receiptId);
  const read = receipt && interpretStored(receipt);
  if (receipt === null || read === null) return null;
  const { source, at } = receipt;
  const stoppedBy = mismatchesOf(agent, source, read);
  if (stoppedBy === null) return null;
  const { event, action } = read.event;
  const mismatches = stoppedBy.map((entry) => [...entry]);
  return { receiptId, at: iso(at), source, event, action, stoppedBy: mismatches };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
