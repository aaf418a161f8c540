import { z } from "zod";
import { isoTime } from "../../../streams/iso-times.ts";
import {
  limitedSchedules,
  nextRun,
  type NamedSchedule,
} from "../../../streams/triggers/next-run.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { Act } from "../../foundation/contracts/audit-acts.ts";
import { counted } from "../../foundation/contracts/format.ts";
import { agentParams } from "../../foundation/contracts/params.ts";
import { nullableText, since } from "../../foundation/contracts/wire-fields.ts";
import { messageOf, Problem } from "../../foundation/errors.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import { maxBackfilled, slotsToStart, type SlotRange } from "./missed-slots.ts";
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
  const cancel = async ({ agent }: WorkItem, why: string): Promise<void> => {
    const count = await store.slots.cancel(agent, `the runs before it ended: ${why}`);
    if (count > 0) warn(`${agent}: ${counted(count, "missed run")} will not start: ${why}`);
  };
  const onEvent = (event: RunEvent): Promise<void> | null => {
    if (event.type === "late") return advance(event.agent);
    if (!("item" in event) || !isLate(event.item)) return null;
    switch (event.type) {
      case "refused":
        return cancel(event.item, event.reason);
      case "finished":
        if (event.end.outcome === "killed") return cancel(event.item, "a run was killed");
        return advance(event.agent);
      case "taken":
        return advance(event.agent);
      default:
        return null;
    }
  };
  return {
    advance,
    /** Called after the event was committed. */
    onEvent: (event: RunEvent): void => {
      onEvent(event)?.catch((error: unknown) => warn(`${event.agent}: ${messageOf(error)}`));
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
  schedule: z.string().meta({ description: "Its name; empty for the one without a name" }),
  at: z.iso.datetime().meta({ description: "When it was due" }),
  reason: nullableText.meta({
    description: "Why it did not start; null if the agent did not have this schedule then",
  }),
});

const time = (description: string) => since.meta({ description });

/** Starts missed runs of an agent's schedules. */
export const backfill = operationsOf<RunContext>("Control").change("/api/agents/:name/backfill", {
  summary: "Start missed runs of an agent's schedules, one after another",
  description:
    `Those due from \`since\` to \`until\`, or at \`at\`, by the schedules as they are now, that did not start; at most ${maxBackfilled}. ` +
    "The oldest starts first, and the next one when it has ended. No due time starts twice, however often this is asked. If one " +
    "can't start or a person kills its run, the rest is not started.",
  scope: "trigger",
  params: agentParams,
  input: z.strictObject({
    since: time("The first due time"),
    until: time("The last due time. Default: now"),
    at: time("One due time, in place of `since` and `until`"),
    schedule: z
      .string()
      .max(100)
      .optional()
      .meta({ description: "Only of the schedule with this name" }),
    dryRun: z.boolean().optional().meta({ description: "Only answer which would start" }),
  }),
  output: z.object({
    success: z.literal(true),
    agent: z.string(),
    slots: z.array(slotSchema).meta({ description: "Those that start, or with `dryRun` would" }),
  }),
  audit: ({ name: agent, dryRun }, { slots }): Act | null =>
    dryRun === true || slots.length === 0
      ? null
      : { act: "backfill", agent, detail: detailOf(slots.map(({ at }) => at)) },
  problems: [400, 404, 409, 503],
  perform: async ({ name: agent, dryRun = false, schedule, ...given }, context) => {
    const { store, status, backfills } = context;
    const { config } = knownAgent(status, agent);
    const schedules = limitedSchedules(config, (await context.planned()).calendars);
    const range = { ...rangeOf(given, Date.now()), schedule };
    const found = slotsToStart({ name: agent, schedules }, range, store.slots);
    if (given.at !== undefined && found.length === 0) mustBeDue(given.at, schedules, range);
    const answer = (slots: typeof found) => ({
      success: true as const,
      agent,
      slots: slots.map((slot) => ({ ...slot, at: isoTime(slot.at) })),
    });
    if (dryRun) return answer(found);
    mustBeStartable(context, agent);
    // Another backfill may have planned some of them meanwhile.
    const planned = new Set(await store.slots.backfill(agent, found));
    await backfills.advance(agent);
    return answer(found.filter((slot) => planned.has(slot)));
  },
});

function detailOf(times: readonly string[]): string {
  const [first = "", ...others] = times;
  const last = others.at(-1);
  return last === undefined ? first : `${counted(times.length, "run")}, ${first} to ${last}`;
}

type Given = Partial<Record<"since" | "until" | "at", string>>;

function rangeOf(
  { since: from, until, at }: { [Key in keyof Given]: Given[Key] | undefined },
  now: number,
): SlotRange {
  const isOne = at !== undefined;
  if (isOne === (from !== undefined || until !== undefined)) {
    throw new Problem("bad_request", "give `since`, with or without `until`, or `at`");
  }
  if (isOne) return mustBePast({ since: Date.parse(at), until: Date.parse(at) }, now);
  if (from === undefined) throw new Problem("bad_request", "give `since` with `until`");
  const to = until === undefined ? now : Math.min(Date.parse(until), now);
  return mustBePast({ since: Date.parse(from), until: to }, now);
}

function mustBePast(range: SlotRange, now: number): SlotRange {
  if (range.since <= now) return range;
  throw new Problem("bad_request", "only runs that were due in the past can be started");
}

/** Throws Problem `bad_request` if no schedule was due then; else the run has started. */
function mustBeDue(
  at: string,
  schedules: readonly NamedSchedule[],
  { since: moment, schedule }: SlotRange,
): void {
  const meant = schedules.filter(({ name }) => name === (schedule ?? name));
  const nextAt = meant.flatMap((one) => nextRun(one, moment - 1) ?? []);
  if (nextAt.includes(moment)) return;
  const next = nextAt.length === 0 ? "" : ` The next due time is ${isoTime(Math.min(...nextAt))}.`;
  throw new Problem("bad_request", `no run was due at ${at}.${next}`);
}
