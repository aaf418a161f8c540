import { z } from "zod";
import { isoTimes } from "../../../streams/iso-times.ts";
import { limitedSchedules } from "../../../streams/triggers/next-run.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { Act } from "../../foundation/contracts/audit-acts.ts";
import { counted } from "../../foundation/contracts/format.ts";
import { agentParams } from "../../foundation/contracts/params.ts";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";
import { messageOf } from "../../foundation/errors.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import { maxBackfilled, slotsToStart } from "./missed-slots.ts";
import type { RunContext } from "./run-context.ts";
import { mustBeStartable } from "./runnable.ts";

type BackfillContext = Pick<
  SchedulerContext,
  "store" | "dispatch" | "stopping" | "onDemand" | "warn"
>;

/**
 * Starts the planned slots of each agent one after another, in order: the next one when the run of the one before has ended.
 * The store has them, so that they continue after a restart.
 */
export function createBackfills({ store, dispatch, stopping, onDemand, warn }: BackfillContext) {
  const advance = async (agent: string): Promise<void> => {
    if (onDemand || stopping.phase() === "draining") return;
    const item = await store.slots.startNext(agent);
    if (item !== null) dispatch([item]);
  };
  /** The rest does not start: it would meet the same problem, or a person wanted an end. */
  const cancel = async (agent: string, why: string): Promise<void> => {
    const count = await store.slots.cancel(agent, `of a missed run before it: ${why}`);
    if (count > 0) warn(`${agent}: ${counted(count, "missed run")} will not start: ${why}`);
  };
  const onEvent = async (event: RunEvent): Promise<void> => {
    if (event.type === "late") return advance(event.agent);
    if (!("item" in event) || !isLate(event.item)) return;
    if (event.type === "refused") return cancel(event.agent, event.reason);
    if (event.type === "finished" && event.end.outcome === "killed") {
      return cancel(event.agent, "a run was killed");
    }
    if (event.type === "finished" || event.type === "taken") return advance(event.agent);
  };
  return {
    advance,
    /** Called after the event was committed. */
    onEvent: (event: RunEvent): void => {
      onEvent(event).catch((error: unknown) => warn(`${event.agent}: ${messageOf(error)}`));
    },
    /** Continues what an earlier scheduler planned. */
    resume: async (): Promise<void> => {
      await Promise.all(store.slots.plannedAgents().map(advance));
    },
  };
}

export type Backfills = ReturnType<typeof createBackfills>;

function isLate({ trigger }: WorkItem): boolean {
  return trigger.kind === "cron" && trigger.late !== undefined;
}

const slotSchema = z.object({
  schedule: z.string(),
  at: z.iso.datetime().meta({ description: "When it was due" }),
  reason: nullableText.meta({
    description: "Why it did not start; null if the agent did not have this schedule then",
  }),
});

const time = z.iso.datetime({ offset: true });

/** Starts missed runs of an agent's schedules. */
export const backfill = operationsOf<RunContext>("Control").change("/api/agents/:name/backfill", {
  summary: "Start missed runs of an agent's schedules, one after another",
  description:
    `Those due in a range by the schedules as they are now that did not start, at most ${maxBackfilled}, the oldest first. No due ` +
    "time starts twice. If one can't start or a person kills its run, the others are not started.",
  scope: "trigger",
  params: agentParams,
  input: z.strictObject({
    since: time.meta({ description: "The first due time" }),
    until: time.optional().meta({ description: "The last due time. Default: now" }),
    schedule: z.string().max(100).optional().meta({ description: "Only this schedule" }),
    dryRun: z.boolean().optional().meta({ description: "Only answer which would start" }),
  }),
  output: z.object({ success: z.literal(true), agent: z.string(), slots: z.array(slotSchema) }),
  audit: ({ name: agent, dryRun }, { slots }): Act | null =>
    dryRun === true || slots.length === 0
      ? null
      : {
          act: "backfill",
          agent,
          detail: `${counted(slots.length, "run")}, ${slots[0]?.at ?? ""}`,
        },
  problems: [404, 409, 503],
  perform: async ({ name: agent, since, until, dryRun = false, schedule }, context) => {
    const { store, status, backfills } = context;
    const { config } = knownAgent(status, agent);
    const now = Date.now();
    const to = until === undefined ? now : Math.min(Date.parse(until), now);
    const schedules = limitedSchedules(config, (await context.planned()).calendars);
    const range = { since: Date.parse(since), until: to, schedule };
    const found = slotsToStart({ name: agent, schedules }, range, store.slots);
    let slots = found;
    if (!dryRun) {
      mustBeStartable(context, agent);
      // Another backfill may have planned some of them meanwhile.
      const planned = new Set(await store.slots.backfill(agent, found));
      await backfills.advance(agent);
      slots = found.filter((slot) => planned.has(slot));
    }
    return { success: true as const, agent, slots: slots.map((slot) => isoTimes(slot, "at")) };
  },
});
