import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { refusalOf } from "../../../src/runtime/runs/runnable.ts";
import { anAgent } from "../../helpers/agents.ts";

const runnable = { config: anAgent("dev"), enabled: true, removed: false, configError: null };

function refusal(
  { outcome, reason }: { readonly outcome: "rejected" | "dropped"; readonly reason: string },
  record: Partial<AgentRecord> | null = runnable,
  phase: "running" | "draining" = "running",
) {
  const status = { agent: () => (record === null ? undefined : (record as AgentRecord)) };
  return refusalOf({ agent: "dev", outcome, reason }, { status, stopping: { phase: () => phase } });
}

const rejected = { outcome: "rejected", reason: 'there is no agent "dev"' } as const;
const broken = { ...runnable, config: null, configError: "schedule is wrong" };
const gone = { outcome: "dropped", reason: "the agent was removed" } as const;
const unclaimed = { outcome: "rejected", reason: "state.db: disk I/O error" } as const;
const full = { outcome: "dropped", reason: "queue_full" } as const;

test.each<[what: string, code: string, message: string | null, ...of: Parameters<typeof refusal>]>([
  ["a missing agent", "unknown_agent", 'no agent "dev"', rejected, null],
  ["the removal", "unknown_agent", 'agent "dev" was removed', gone, { ...runnable, removed: true }],
  ["a disabled agent", "disabled", null, rejected, { ...runnable, enabled: false }],
  ["a broken config", "invalid_config", "schedule is wrong", rejected, broken],
  ["that the scheduler stops", "draining", null, rejected, runnable, "draining"],
  ["the store that can't claim its run", "store_unavailable", unclaimed.reason, unclaimed],
  ["a full queue, not the store", "refused", "queue_full", full],
])("the error for rejected manual work reports %s", (_what, code, message, ...of) => {
  expect(refusal(...of)).toMatchObject({ code, ...(message !== null && { message }) });
});
