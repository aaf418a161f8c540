import { createQuestionStore } from "../../features/people/question-store.ts";
import { createSpend } from "../../features/spend/spend-store.ts";
import { traceOf } from "./trace.ts";
import type { TraceView } from "./trace-view.ts";
import { mustHaveRun, type ViewRunDeps } from "./view-run.ts";

/** Lines of a run that its trace is made from: its last ones. */
const mostLines = 5_000;

/** The steps of a run, with times, tokens and costs. Throws Problem `unknown_instance`. */
export async function readTrace(
  instanceId: string,
  { store, logs }: Pick<ViewRunDeps, "store" | "logs">,
): Promise<TraceView> {
  const { agent, ...entry } = mustHaveRun(instanceId, store).entry;
  const now = Date.now();
  const [at, startedAt, endedAt] = [entry.at, entry.startedAt, entry.endedAt].map((time) =>
    time === null ? null : Date.parse(time),
  );
  const times = { from: at ?? now, to: endedAt ?? now };
  const lines = await logs.read({ agent, instanceId, lines: mostLines, after: null, times });
  return traceOf({
    instanceId,
    at: at ?? now,
    startedAt: startedAt ?? null,
    endedAt: endedAt ?? null,
    now,
    lines,
    isWhole: lines.length < mostLines,
    calls: store.tables(createSpend).callsOf(instanceId),
    questions: store.tables(createQuestionStore).ofRun(instanceId),
  });
}
