import { runEntrySchema, type RunView } from "../../src/runtime/runs/run-view.ts";
import { historyEntry } from "./history-entry.ts";

/** A run of "dev" by its schedule that went well; what a test is about goes into `run`. */
export function aRunView(instanceId: string, run: Partial<RunView> = {}): RunView {
  const entry = runEntrySchema.parse(historyEntry({ id: `t-${instanceId}` }));
  return {
    ...entry,
    instanceId,
    agent: "dev",
    value: null,
    lastWords: null,
    prompt: null,
    payload: null,
    scheduledFor: entry.at,
    late: null,
    spend: { usd: 0.01, subscriptionUsd: 0, calls: 2, tokens: 1200, unpriced: 0, estimated: 0 },
    version: { hash: "a".repeat(32), commit: "c".repeat(40), dirty: false },
    lastSuccess: null,
    failing: null,
    hosts: [],
    memory: { versions: [], proposals: [], notKept: [] },
    questions: [],
    messages: [],
    isKept: false,
    continues: null,
    continuedBy: [],
    thread: null,
    acts: [],
    calls: { received: null, made: [] },
    ...run,
  };
}
