import type { HistoryEntry } from "../../src/foundation/contracts/history.ts";

/** A run of "dev" by its schedule that went well. */
export function historyEntry(entry: Partial<HistoryEntry> & { readonly id: string }): HistoryEntry {
  const at = entry.at ?? new Date().toISOString();
  return {
    at,
    kind: "cron",
    agent: "dev",
    source: null,
    event: null,
    action: null,
    receiptId: null,
    instanceId: `dev-${entry.id}`,
    outcome: "succeeded",
    deadLetter: false,
    reason: null,
    attempt: 1,
    startedAt: at,
    endedAt: at,
    durationMs: 0,
    exitCode: 0,
    model: "haiku",
    tokens: 1200,
    costUsd: 0.01,
    callId: null,
    caller: null,
    value: null,
    calls: 0,
    replayOf: null,
    version: null,
    ...entry,
  };
}
