import { filter, mergeMap, skip } from "rxjs";
import { keyedBy } from "../../foundation/scheduler/keyed.ts";
import type { LateStart, RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { counted } from "../../foundation/contracts/format.ts";
import { messageOf } from "../../foundation/errors.ts";

type BackfillContext = Pick<
  SchedulerContext,
  "store" | "status" | "inputs" | "dispatch" | "stopping" | "onDemand" | "warn"
>;

/**
 * Starts the planned slots of each agent one after another, in order: the next one when the run of the one before has ended.
 * The store has them, so that they continue after a restart.
 */
export function createBackfills(context: BackfillContext) {
  const { store, inputs, dispatch, stopping, onDemand, warn } = context;
  const keyed = keyedBy(context.status);
  /** While schedules are paused, only what a person asked for starts. */
  const startable = (item: WorkItem): WorkItem | null =>
    inputs.paused$.value && isLate(item, "catch-up") ? null : keyed(item);
  const advance = async (agent: string): Promise<void> => {
    if (onDemand || stopping.phase() === "draining") return;
    const item = await store.slots.startNext(agent, startable);
    if (item !== null) dispatch([item]);
  };
  /** The rest does not start: it would meet the same problem, or a person wanted an end. */
  const cancel = async (agent: string, why: string): Promise<void> => {
    const count = await store.slots.cancel(agent, why);
    if (count > 0) warn(`${agent}: ${counted(count, "missed run")} will not start: ${why}`);
  };
  const onEvent = async (event: RunEvent): Promise<void> => {
    if (event.type === "late") return advance(event.agent);
    if (!("item" in event) || !isLate(event.item)) return;
    if (event.type !== "refused" && event.type !== "finished") return;
    const { outcome, reason } = event.type === "finished" ? event.end : event;
    if (event.type === "refused" || outcome === "rejected") {
      return cancel(event.agent, `the one before could not start: ${reason ?? ""}`);
    }
    if (outcome === "killed") return cancel(event.agent, "the one before was killed");
    return advance(event.agent);
  };
  const resume = async (): Promise<void> => {
    await Promise.all(store.slots.plannedAgents().map(advance));
  };
  return {
    advance,
    /** Called after the event was committed. */
    onEvent: (event: RunEvent): void => {
      onEvent(event).catch((error: unknown) => warn(`${event.agent}: ${messageOf(error)}`));
    },
    /** Continues what an earlier scheduler planned. */
    resume,
    /** While it is subscribed, planned slots continue after a pause of schedules. */
    resumed$: inputs.paused$.pipe(
      skip(1),
      filter((paused) => !paused),
      mergeMap(() => resume().catch((error: unknown) => warn(messageOf(error)))),
    ),
  };
}

export type Backfills = ReturnType<typeof createBackfills>;

function isLate({ trigger }: WorkItem, why?: LateStart): boolean {
  const late = trigger.kind === "cron" ? trigger.late : undefined;
  return late !== undefined && late === (why ?? late);
}
