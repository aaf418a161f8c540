import {
  combineLatest,
  concat,
  defer,
  map,
  merge,
  mergeMap,
  switchMap,
  tap,
  withLatestFrom,
} from "rxjs";
import type { Observable } from "rxjs";
import type { Clock } from "../clock.ts";
import {
  schedulesOf,
  type AgentConfig,
  type Schedule,
  type ScheduleEntry,
} from "../agent-config.ts";
import type { RunEvent, WorkItem } from "../vocabulary.ts";
import { cronTicks, missedTicks, type CronEvent, type CronPlan } from "./cron.ts";
import type { Calendars } from "./calendar.ts";
import { limited } from "./next-run.ts";
import { switchEach } from "./switch-each.ts";
import { withKey } from "./with-key.ts";

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
  /** The project's calendars. Emits at once. */
  readonly calendars$: Observable<Calendars>;
  /** The last check of an earlier scheduler; undefined for the first scheduler, or if the agent had no such schedule then. */
  readonly lastChecked: CheckedBefore;
}

/** `schedule` is the schedule's name. */
export type CheckedBefore = (agent: string, schedule: string) => LastChecked | undefined;

/** The time up to which the ticks of a schedule were handled (epoch ms), and the schedule of that time. */
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
 * Merges all that can start an agent. A new config switches the schedules that it changes, never the runs; an
 * unchanged schedule keeps its next tick.
 *
 *     config:  ─9:00───────────9:00──────10:00──
 *     cron:    ─n─────────t─n────────────n──────    n next-run event, t work
 *     work:    ──────w──────────────w───────────
 */
export function triggersFor(sources: TriggerSources): Observable<Triggered> {
  return merge(cronTriggers(sources), sources.work$);
}

function cronTriggers(sources: TriggerSources): Observable<Triggered> {
  return defer(() => {
    const due = new Map<string, number>();
    let latest: AgentConfig | null = null;
    return combineLatest([sources.agent$, sources.enabled$]).pipe(
      tap(([{ config }]) => (latest = config)),
      map(([{ config, present }, enabled]) => (present && enabled ? plansOf(config) : [])),
      switchEach<Plan, PlanEvent>({
        isSame: samePlan,
        open: (plan, isFirst) => eventsOf(plan, isFirst, sources),
        gone: (name) => ({ event: { type: "next", at: null }, name, plan: null }),
      }),
      withLatestFrom(sources.paused$),
      mergeMap(([event, paused]) => triggered(event, due, paused, sources)),
      map((next) => (isWork(next) ? withKey(next, latest) : next)),
    );
  });
}

interface Plan extends ScheduleEntry, Pick<AgentConfig, "catchUp" | "catchUpMost"> {}

function plansOf(config: AgentConfig | null): readonly Plan[] {
  if (config === null || config.scale === 0) return [];
  const { catchUp, catchUpMost } = config;
  return schedulesOf(config).map((entry) => ({ ...entry, catchUp, catchUpMost }));
}

function samePlan(a: Plan, b: Plan): boolean {
  return (
    a.expression === b.expression &&
    a.timezone === b.timezone &&
    a.catchUp === b.catchUp &&
    a.catchUpMost === b.catchUpMost &&
    JSON.stringify(a.calendar) === JSON.stringify(b.calendar)
  );
}

interface PlanEvent {
  readonly event: CronEvent;
  readonly name: string;
  readonly plan: Schedule | null;
}

function eventsOf(
  plan: Plan,
  isFirst: boolean,
  { agent, clock, lastChecked, calendars$ }: TriggerSources,
): Observable<PlanEvent> {
  const { name } = plan;
  const named = map((event: CronEvent) => ({ event, name, plan }));
  // Only ticks while the scheduler was down count as missed, not those before an edit.
  const ticks = (calendars: Calendars, seen: LastChecked | undefined) =>
    ticksSince(seen, { ...plan, ...limited(plan, calendars) }, clock);
  const seen = isFirst ? lastChecked(agent, name) : undefined;
  if (plan.calendar === null) return ticks({}, seen).pipe(named);
  return calendars$.pipe(
    switchMap((calendars, index) => ticks(calendars, index === 0 ? seen : undefined)),
    named,
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

/** While schedules are paused, no tick comes: the pause itself is stored, and with it those that it skips. */
function triggered(
  { event, name, plan }: PlanEvent,
  due: Map<string, number>,
  paused: boolean,
  sources: TriggerSources,
): Triggered[] {
  if (event.type === "next") {
    if (event.at === null) due.delete(name);
    else due.set(name, event.at);
    return [nextRunEvent(name, plan, due, sources)];
  }
  if (paused) return [];
  const named = name === "" ? {} : { schedule: name };
  const at = { agent: sources.agent, at: sources.clock.now() };
  if (event.type === "missed") return [{ ...at, type: "missed", ...missed(event, name, sources) }];
  if (event.type === "late") return [{ ...at, type: "late", ...named, slots: event.slots }];
  return [cronItem(event.scheduledFor, name, sources)];
}

function nextRunEvent(
  name: string,
  plan: Schedule | null,
  due: ReadonlyMap<string, number>,
  { agent, clock }: TriggerSources,
): RunEvent {
  const nextRunAt = due.size === 0 ? null : Math.min(...due.values());
  const checked = plan && { expression: plan.expression, timezone: plan.timezone };
  return { type: "next-run", agent, at: clock.now(), nextRunAt, schedule: name, checked };
}

/** An item for each missed tick, and one for all earlier ones when there are too many to list. */
function missed(
  { slots, earlier }: Extract<CronEvent, { type: "missed" }>,
  name: string,
  sources: TriggerSources,
): Pick<Extract<RunEvent, { type: "missed" }>, "items" | "reason"> {
  const count = slots.length + (earlier?.count ?? 0);
  const reason = count === 1 ? noScheduler : `no scheduler was running for ${count} ticks`;
  const items = slots.map((slot) => ({ item: cronItem(slot, name, sources), reason: noScheduler }));
  if (earlier === null) return { items, reason };
  const others = `no scheduler was running for ${earlier.count} ticks from this one on`;
  const first = { item: cronItem(earlier.first, name, sources), reason: others };
  return { reason, items: [first, ...items] };
}

const noScheduler = "no scheduler was running";

function cronItem(
  scheduledFor: number,
  schedule: string,
  { agent, clock, newId }: TriggerSources,
): WorkItem {
  const named = schedule === "" ? {} : { schedule };
  const trigger = { kind: "cron", scheduledFor, ...named } as const;
  return { id: newId(), agent, at: clock.now(), attempt: 1, trigger };
}
