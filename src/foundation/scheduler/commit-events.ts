import { outcomeRows } from "../../../streams/outcomes.ts";
import { v7 as uuidV7 } from "uuid";
import { keyedBy } from "./keyed.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { SchedulerContext } from "../context.ts";
import { messageOf } from "../errors.ts";
import { retryOf } from "../store/recover.ts";
import { tickKey } from "../store/settings.ts";
import type { Also } from "../store/work.ts";

type CommitContext = Pick<
  SchedulerContext,
  "store" | "status" | "inputs" | "project$" | "dispatch" | "log"
>;

/** The writes of a feature that are committed with the record of an event; undefined for none. */
export type WritesOf = (event: RunEvent) => Also | undefined;

/**
 * Commits an event: in one transaction the retry of lost work, the record of the event, and the writes of features, such as
 * its alerts. Committed retries and reruns are dispatched.
 */
export function commitEvents(
  { store, status, inputs, project$, dispatch, log }: CommitContext,
  features: readonly WritesOf[],
): (event: RunEvent) => void {
  const { work, settings, superseded } = store;
  const writesOf = joined(features);
  /** The recorded plan of each schedule. */
  const recorded = new Map<string, string>();
  const requeue = async (item: WorkItem): Promise<void> => {
    await work.requeue([item]);
    dispatch([item]);
  };
  /** A stopping scheduler dispatches no work, so the retry waits for the next start. */
  const retry = async (event: RunEvent): Promise<void> => {
    const again = event.type === "finished" ? retryOf(event.item, event.end) : null;
    if (again !== null) await requeue(again);
    if (again === null || event.type !== "finished" || event.end.neverBegan !== true) return;
    if (again.key !== undefined) await work.record(() => superseded.move(event.item.id, again.id));
  };
  /** With the writes about work of the same key. */
  const withSuperseded = (event: RunEvent, also?: Also): Also | undefined => {
    if (event.type === "ending") return () => superseded.mark(event.itemId, event.by);
    const isEnd = event.type === "finished" || event.type === "refused";
    if (!isEnd || event.item.key === undefined) return also;
    const { id } = event.item;
    const { supersededBy } = event.type === "finished" ? event.end : event;
    return () => {
      if (supersededBy !== undefined) superseded.mark(id, supersededBy);
      superseded.ended(id);
      also?.();
    };
  };
  const record = async (event: RunEvent): Promise<void> => {
    const also = withSuperseded(event, writesOf(event));
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
      case "missed":
        return work.miss(event.items, also);
      case "late": {
        const { agent, schedule = "", slots } = event;
        await store.slots.catchUp(
          agent,
          slots.map((at) => ({ schedule, at })),
        );
        return also && work.record(also);
      }
      case "blocked":
        if (event.reason !== null) return work.undoBegin(event.instanceId, also);
        return also && work.record(also);
      case "next-run": {
        const { agent, at, checked, schedule } = event;
        const [key, text] = [tickKey(agent, schedule), JSON.stringify(checked)];
        // While schedules are paused no tick is missed: the heartbeat tells how far the clock came.
        if (inputs.paused$.value && recorded.get(key) === text) return;
        recorded.set(key, text);
        return settings.recordTick(key, { at, schedule: checked });
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
    const own: WorkItem = { id: uuidV7(), agent, at, attempt: 1, trigger };
    const again = keyedBy(status)(own);
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

function joined(features: readonly WritesOf[]): WritesOf {
  return (event) => {
    const writes = features.flatMap((writesOf) => writesOf(event) ?? []);
    return writes.length === 0 ? undefined : () => writes.forEach((write) => write());
  };
}
