import type { RunCall } from "../../src/features/spend/call-totals.ts";
import type { ReadLog } from "../../src/foundation/logs/log-source.ts";
import type { RunView } from "../../src/runtime/runs/run-view.ts";
import { traceOf } from "../../src/runtime/runs/trace.ts";

/** The trace of a run in memory, of its log and these calls to models. */
export async function fakeTrace(run: RunView, logs: ReadLog, calls: readonly RunCall[]) {
  const { agent, instanceId, startedAt, endedAt } = run;
  const lines = await logs.read({ agent, instanceId, lines: 5_000, after: null });
  return traceOf({
    instanceId,
    at: Date.parse(run.at),
    startedAt: startedAt === null ? null : Date.parse(startedAt),
    endedAt: endedAt === null ? null : Date.parse(endedAt),
    now: Date.now(),
    lines,
    isWhole: true,
    calls,
    questions: [],
  });
}
