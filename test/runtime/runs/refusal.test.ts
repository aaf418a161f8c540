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

test("the error for rejected manual work reports that the agent was removed", () => {
  expect(refusal(rejected, null)).toMatchObject({
    code: "unknown_agent",
    message: 'no agent "dev"',
  });
  const removed = { ...runnable, removed: true };
  expect(refusal({ outcome: "dropped", reason: "the agent was removed" }, removed)).toMatchObject({
    code: "unknown_agent",
    message: 'agent "dev" was removed',
  });
});

test("the error for rejected manual work reports a disabled agent or a broken config", () => {
  expect(refusal(rejected, { ...runnable, enabled: false })).toMatchObject({ code: "disabled" });
  const broken = { ...runnable, config: null, configError: "schedule is wrong" };
  expect(refusal(rejected, broken)).toMatchObject({
    code: "invalid_config",
    message: "schedule is wrong",
  });
});

test("the error for rejected manual work reports that the scheduler stops", () =>
  expect(refusal(rejected, runnable, "draining")).toMatchObject({ code: "draining" }));

test("the error for manual work whose run could not be claimed names the store", () => {
  const reason = "state.db: disk I/O error";
  expect(refusal({ outcome: "rejected", reason })).toMatchObject({
    code: "store_unavailable",
    message: reason,
  });
});

test("the error for manual work that a full queue rejects does not blame the store", () =>
  expect(refusal({ outcome: "dropped", reason: "queue_full" })).toMatchObject({
    code: "refused",
    message: "queue_full",
  }));
