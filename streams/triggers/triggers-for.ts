import {
  combineLatest,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  map,
  merge,
  mergeMap,
  of,
  switchMap,
  withLatestFrom,
} from "rxjs";
import type { Observable } from "rxjs";
import type { Clock } from "../clock.ts";
import type { AgentConfig } from "../agent-config.ts";
import type { RunEvent, WorkItem } from "../vocabulary.ts";
import { cronTicks, missedTicks, type CronEvent, type CronPlan } from "./cron.ts";
import type { Schedule } from "./next-tick.ts";

export interface TriggerSources {
  readonly agent: string;
  /** The active config (null without one), and whether the agent's directory exists. */
  readonly agent$: Observable<{ config: AgentConfig | null; present: boolean }>;
  readonly enabled$: Observable<boolean>;
  readonly paused$: Observable<boolean>;
  /** Work that arrives addressed to this agent: webhooks, calls, manual triggers, and work from before a restart. */
  readonly work$: Observable<Triggered>;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The last check of an earlier scheduler; undefined for the first scheduler, or if the agent had no schedule then. */
  readonly lastChecked: (agent: string) => LastChecked | undefined;
}

/** The time up to which an agent's ticks were handled (epoch ms), and the schedule of that time. */
export interface LastChecked {
  readonly at: number;
  readonly schedule: Schedule;
}

/** Output of triggers: work, or an event to report. */
export type Triggered = WorkItem | RunEvent;

export function isWork(triggered: Triggered): triggered is WorkItem {
  return !("type" in triggered);
}

/**
 * Whether an item is a tick of the schedule: the next one is due anyway. A tick that is late, rerun, retried or replayed
 * comes once.
 */
export function isTick({ trigger, attempt, replayOf }: WorkItem): boolean {
  if (trigger.kind !== "cron" || trigger.rerun !== undefined || trigger.late !== undefined) {
    return false;
  }
  return attempt === 1 && replayOf === undefined;
}

/**
 * Merges all that can start an agent. A new config switches the schedule, never the runs; an unchanged schedule
 * keeps its next tick.
 *
 *     config:  ─9:00───────────9:00──────10:00──
 *     cron:    ─n─────────t─n────────────n──────    n next-run event, t work
 *     work:    ──────w──────────────w───────────
 */
export function triggersFor(sources: TriggerSources): Observable<Triggered> {
  return merge(cronTriggers(sources), sources.work$);
}

function cronTriggers(sources: TriggerSources): Observable<Triggered> {
  const { agent, clock, lastChecked } = sources;
  return combineLatest([sources.agent$, sources.enabled$]).pipe(
    map(([{ config, present }, enabled]) => (present && enabled ? planOf(config) : null)),
    distinctUntilChanged(samePlan),
    switchMap((plan, index) => {
      if (plan === null) return index === 0 ? EMPTY : of<CronEvent>({ type: "next", at: null });
      // Only ticks while the scheduler was down count as missed, not those before an edit.
      return ticksSince(index === 0 ? lastChecked(agent) : undefined, plan, clock);
    }),
    withLatestFrom(sources.paused$),
    mergeMap(([event, paused]) => triggered(event, paused, sources)),
  );
}

/** A schedule edited while the scheduler was down has no missed ticks; those belong to its earlier version. */
function ticksSince(
  seen: LastChecked | undefined,
  plan: CronPlan,
  clock: Clock,
): Observable<CronEvent> {
  if (seen === undefined) return cronTicks(plan, clock);
  const { at, schedule } = seen;
  const { expression, timezone } = plan;
  if (schedule.expression === expression && schedule.timezone === timezone) {
    return cronTicks(plan, clock, at);
  }
  const before = { ...plan, ...schedule };
  return concat(
    defer(() => missedTicks(before, at, clock.now())),
    cronTicks(plan, clock),
  );
}

function planOf(config: AgentConfig | null): CronPlan | null {
  if (config === null || config.schedule === null || config.scale === 0) return null;
  const { schedule: expression, timezone, catchUp, catchUpMost } = config;
  return { expression, timezone, catchUp, catchUpMost };
}

function samePlan(a: CronPlan | null, b: CronPlan | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** While schedules are paused, no tick comes: the pause itself is stored, and with it those that it skips. */
function triggered(event: CronEvent, paused: boolean, sources: TriggerSources): Triggered[] {
  const at = { agent: sources.agent, at: sources.clock.now() };
  if (event.type === "next") return [{ ...at, type: "next-run", nextRunAt: event.at }];
  if (paused) return [];
  if (event.type === "missed") return [{ ...at, type: "missed", ...missed(event, sources) }];
  if (event.type === "late") return [{ ...at, type: "late", slots: event.slots }];
  return [cronItem(event.scheduledFor, sources)];
}

/** An item for each missed tick, and one for all earlier ones when there are too many to list. */
function missed(
  { slots, earlier }: Extract<CronEvent, { type: "missed" }>,
  sources: TriggerSources,
): Pick<Extract<RunEvent, { type: "missed" }>, "items" | "reason"> {
  const count = slots.length + (earlier?.count ?? 0);
  const reason = count === 1 ? noScheduler : `no scheduler was up for ${count} ticks`;
  const items = slots.map((slot) => ({ item: cronItem(slot, sources), reason: noScheduler }));
  if (earlier === null) return { items, reason };
  const others = `no scheduler was up for ${earlier.count} ticks from this one on`;
  return { reason, items: [{ item: cronItem(earlier.first, sources), reason: others }, ...items] };
}

const noScheduler = "no scheduler was up for it";

function cronItem(scheduledFor: number, { agent, clock, newId }: TriggerSources): WorkItem {
  const trigger = { kind: "cron", scheduledFor } as const;
  return { id: newId(), agent, at: clock.now(), attempt: 1, trigger };
}
