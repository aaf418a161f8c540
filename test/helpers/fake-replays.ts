import type { ReceiptView, UnmatchedReplay } from "../../src/foundation/contracts/operator-api.ts";

/** Work that a replay started. */
export function replayed(
  agent: string,
  instanceId: string,
  triggerId: string,
  replayOf: string | null,
) {
  return { agent, outcome: "started" as const, instanceId, triggerId, replayOf };
}

/** A replay of all receipts to all agents. */
export function unmatchedReplay(
  receipts: Iterable<ReceiptView>,
  agents: readonly { readonly name: string }[],
): UnmatchedReplay {
  const deliveries = [...receipts].map(({ receiptId, at, source }) => {
    const names = agents.map(({ name }) => name);
    return { receiptId, at, source, event: "issues", action: "opened", agents: names };
  });
  return { deliveries, next: null, fullQueue: null };
}
