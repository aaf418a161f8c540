import { isoTime } from "../../../streams/iso-times.ts";
import {
  countRuns,
  nextRun,
  runsFrom,
  type NamedSchedule,
} from "../../../streams/triggers/next-run.ts";
import type { TickSlot } from "../../../streams/vocabulary.ts";
import type { MissedSpan } from "../../features/webhooks/delivery-report.ts";
import { Problem } from "../../foundation/errors.ts";
import type { OffSpan, SlotStore } from "../../foundation/store/slots.ts";

/** The most runs that one backfill starts. */
export const maxBackfilled = 500;

/** A due time that did not start. */
interface MissedSlot extends TickSlot {
  /** Null if no reason is known: the agent did not have this schedule then. */
  readonly reason: string | null;
}

type Slots = Pick<SlotStore, "started" | "refused" | "offSpans" | "knownSince">;

/** An agent with its schedules as they are now. */
interface Agent {
  readonly name: string;
  readonly schedules: readonly NamedSchedule[];
}

/**
 * The due times in the spans in which schedules were paused or the agent was disabled, one row a span and schedule: nothing
 * is stored for each of them. Those that were started later do not count. Times are epoch ms.
 */
export function missedSpans(
  { name, schedules }: Agent,
  slots: Slots,
  since: number,
  now: number,
): MissedSpan[] {
  return partsOf(slots.offSpans(name, since), since, now).flatMap((span) => {
    const to = span.until ?? now;
    const started = slots.started(name, span.since, to);
    return schedules.flatMap((schedule) => {
      const first = nextRun(schedule, span.since - 1);
      if (first === null || first > to) return [];
      const ofSchedule = started.filter((one) => one.schedule === schedule.name).length;
      const count = countRuns(schedule, span.since - 1, to) - ofSchedule;
      if (count <= 0) return [];
      const until = span.until === null ? null : isoTime(span.until);
      const row = { schedule: schedule.name, since: isoTime(span.since), until };
      return [{ ...row, firstAt: isoTime(first), count, reason: reasonOf(span) }];
    });
  });
}

/** The spans without their overlaps, from `since` on. */
function partsOf(spans: readonly OffSpan[], since: number, now: number): OffSpan[] {
  let from = since;
  return spans.flatMap((span) => {
    const part = { ...span, since: Math.max(span.since, from) };
    from = Math.max(from, span.until ?? now);
    return part.since < (span.until ?? now) ? [part] : [];
  });
}

function reasonOf({ agent }: OffSpan): string {
  return agent === null ? "schedules were paused" : "the agent was disabled";
}

/** Which due times to start; `since` and `until` are epoch ms, both included. */
export interface SlotRange {
  readonly since: number;
  readonly until: number;
  /** The name of one schedule; absent for all. */
  readonly schedule?: string | undefined;
}

/**
 * The due times in a range of an agent's schedules as they are now that did not start, the oldest first. Throws Problem
 * `not_scheduled` or `refused`.
 */
export function slotsToStart(agent: Agent, range: SlotRange, slots: Slots): readonly MissedSlot[] {
  const { name } = agent;
  const { since, until, schedule: only } = range;
  const schedules = agent.schedules.filter((one) => one.name === (only ?? one.name));
  if (schedules.length === 0) {
    throw new Problem("not_scheduled", `agent "${name}" has no schedule ${only ?? ""}`.trimEnd());
  }
  const knownSince = slots.knownSince();
  if (since < knownSince) {
    const time = isoTime(knownSince);
    const message = `runs before ${time} may have started: the history begins then`;
    throw new Problem("refused", message, `Give --since ${time}.`);
  }
  const started = new Set(slots.started(name, since, until).map(keyOf));
  const reasons = new Map(
    slots.refused(name, since).map(({ reason, ...slot }) => [keyOf(slot), reason]),
  );
  const spans = slots.offSpans(name, since);
  const most = maxBackfilled + started.size + 1;
  const found = schedules
    .flatMap((schedule) =>
      runsFrom(schedule, since, until, most).map((at) => ({ schedule: schedule.name, at })),
    )
    .filter((slot) => !started.has(keyOf(slot)))
    .sort((a, b) => a.at - b.at);
  if (found.length > maxBackfilled) {
    const message = `more than ${maxBackfilled} runs of ${name} did not start then`;
    throw new Problem("refused", message, "Give a shorter time with --since and --until.");
  }
  return found.map((slot) => {
    const span = spans.find((one) => one.since <= slot.at && slot.at < (one.until ?? Infinity));
    return { ...slot, reason: reasons.get(keyOf(slot)) ?? (span ? reasonOf(span) : null) };
  });
}

function keyOf({ schedule, at }: TickSlot): string {
  return `${at} ${schedule}`;
}
