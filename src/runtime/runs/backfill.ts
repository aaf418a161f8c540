import { z } from "zod";
import { isoTimes } from "../../../streams/iso-times.ts";
import type { Act } from "../../foundation/contracts/audit-acts.ts";
import { counted } from "../../foundation/contracts/format.ts";
import { agentParams } from "../../foundation/contracts/params.ts";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import { maxBackfilled, slotsToStart } from "./missed-slots.ts";
import type { RunContext } from "./run-context.ts";
import { mustBeStartable } from "./runnable.ts";

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
    const range = { since: Date.parse(since), until: to, schedule };
    const found = slotsToStart({ name: agent, config }, range, store.slots);
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
