import { outcomeRows } from "../../../streams/outcomes.ts";
import { v7 as uuidV7 } from "uuid";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { Schedule } from "../../../streams/triggers/next-tick.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { SchedulerContext } from "../context.ts";
import { messageOf } from "../errors.ts";
import { retryOf } from "../store/recover.ts";
import type { Also } from "../store/work.ts";

type CommitContext = Pick<
  SchedulerContext,
  "store" | "status" | "inputs" | "project$" | "dispatch" | "log"
>;

/**
 * Commits an event: in one transaction the retry of lost work, the record of the event, and its alerts, which
 * `writesOf` returns. Committed retries and reruns are dispatched.
 */
export function commitEvents(
  { store, status, inputs, project$, dispatch, log }: CommitContext,
  writesOf: (event: RunEvent) => Also | undefined,
): (event: RunEvent) => void {
  const { work, settings } = store;
  const requeue = async (item: WorkItem): Promise<void> => {
    await work.requeue([item]);
    dispatch([item]);
  };
  /** A stopping scheduler dispatches no work, so the retry waits for the next start. */
  const retry = async (event: RunEvent): Promise<void> => {
    const again = event.type === "finished" ? retryOf(event.item, event.end) : null;
    if (again !== null) await requeue(again);
  };
  const record = async (event: RunEvent): Promise<void> => {
    const also = writesOf(event);
    switch (event.type) {
      case "finished":
        return work.end(event.item, event, also);
      case "refused": {
        // The next tick replaces a skipped or missed one; dropped and rejected work is a dead letter.
        const { isDeadLetter: isDead = false } = outcomeRows[event.outcome];
        return work.refuse(event.item, event.outcome, event.reason, isDead, also);
      }
      case "queued":
        // Other work was committed before it was dispatched.
        if (event.item.trigger.kind === "cron") return work.keepTick(event.item, also);
        return also && work.record(also);
      case "blocked":
        if (event.reason !== null) return work.undoBegin(event.instanceId, also);
        return also && work.record(also);
      case "next-run": {
        const schedule = scheduleOf(status.agent(event.agent));
        return settings.recordTick(event.agent, { at: event.at, schedule });
      }
      default:
        return also && work.record(also);
    }
  };
  /** A scheduled run that succeeded may ask for another run, up to `maxReruns` in a row. */
  const rerun = async (event: RunEvent): Promise<void> => {
    if (event.type !== "finished" || event.end.rerun !== true) return;
    const { agent, at, end, item } = event;
    if (end.outcome !== "succeeded" || item.trigger.kind !== "cron") return;
    const count = (item.trigger.rerun ?? 0) + 1;
    const trigger = { ...item.trigger, rerun: count };
    const again: WorkItem = { id: uuidV7(), agent, at, attempt: 1, trigger };
    const skip = (why: string): Promise<void> => work.refuse(again, "skipped", why, false);
    const most = project$.value.maxReruns;
    if (count > most) return skip(`it was rerun ${most} times in a row`);
    // While all new work is paused, a rerun waits as other work does.
    const onlySchedules = inputs.workPausedAfter$.value === null;
    if (inputs.paused$.value && onlySchedules) return skip("the scheduler is paused");
    await requeue(again);
  };
  return (event) => {
    const onError = (error: unknown): void =>
      log(50, `${event.agent}: ${event.type} not recorded: ${messageOf(error)}`);
    // All writes begin in this turn: the store commits the writes of a turn together.
    const steps = event.type === "finished" ? [retry, record, rerun] : [record];
    for (const step of steps) step(event).catch(onError);
  };
}

/** The schedule of an agent with a next run; null for an agent without one. */
function scheduleOf(record: AgentRecord | undefined): Schedule | null {
  const { config = null, nextRunAt = null } = record ?? {};
  if (config?.schedule == null || nextRunAt === null) return null;
  return { expression: config.schedule, timezone: config.timezone };
}
