import {
  combineLatest,
  concat,
  defer,
  map,
  merge,
  Observable,
  type Subscription,
  switchMap,
  withLatestFrom,
} from "rxjs";
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

/** Whether an item is a tick of the schedule: the next one is due anyway. A rerun, retried or replayed tick comes once. */
export function isTick({ trigger, attempt, replayOf }: WorkItem): boolean {
  if (trigger.kind !== "cron" || trigger.rerun !== undefined) return false;
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
    const plans$ = combineLatest([sources.agent$, sources.enabled$]).pipe(
      map(([{ config, present }, enabled]) => (present && enabled ? plansOf(config) : [])),
    );
    return eachPlan(plans$, sources).pipe(
      withLatestFrom(sources.paused$),
      map(([event, paused]) => triggered(event, due, paused, sources)),
    );
  });
}

interface Plan extends ScheduleEntry {
  readonly catchUp: AgentConfig["catchUp"];
}

function plansOf(config: AgentConfig | null): readonly Plan[] {
  if (config === null || config.scale === 0) return [];
  return schedulesOf(config).map((entry) => ({ ...entry, catchUp: config.catchUp }));
}

interface PlanEvent {
  readonly event: CronEvent;
  readonly name: string;
  /** Null once it is gone. */
  readonly plan: Schedule | null;
}

/**
 * The ticks of all plans. A plan is followed until its timing changes, whatever becomes of the others. Completes with its
 * source unless a plan is followed.
 *
 *     plans:  ─ab──ab'──b'──
 *     a:       ─n──────n        n next run, the last one null
 *     b:       ─n───n───────
 */
function eachPlan(
  plan$: Observable<readonly Plan[]>,
  sources: TriggerSources,
): Observable<PlanEvent> {
  return new Observable((subscriber) => {
    const followed = new Map<string, { timing: string; ticks: Subscription }>();
    let isFirst = true;
    const follow = (plan: Plan): void => {
      const { name } = plan;
      const timing = JSON.stringify([plan.expression, plan.timezone, plan.catchUp, plan.calendar]);
      const known = followed.get(name);
      if (known?.timing === timing) return;
      known?.ticks.unsubscribe();
      const ticks = ticksOf(plan, isFirst, sources).subscribe({
        next: (event) => subscriber.next({ event, name, plan }),
        error: (error: unknown) => subscriber.error(error),
      });
      followed.set(name, { timing, ticks });
    };
    const leave = (name: string, ticks: Subscription): void => {
      ticks.unsubscribe();
      followed.delete(name);
      subscriber.next({ event: { type: "next", at: null }, name, plan: null });
    };
    subscriber.add(() => {
      for (const { ticks } of followed.values()) ticks.unsubscribe();
    });
    subscriber.add(
      plan$.subscribe({
        next: (plans) => {
          for (const plan of plans) follow(plan);
          for (const [name, { ticks }] of followed) {
            if (plans.every((plan) => plan.name !== name)) leave(name, ticks);
          }
          isFirst = false;
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => followed.size === 0 && subscriber.complete(),
      }),
    );
  });
}

function ticksOf(
  plan: Plan,
  isFirst: boolean,
  { agent, clock, lastChecked, calendars$ }: TriggerSources,
): Observable<CronEvent> {
  // Only ticks while the scheduler was down count as missed, not those before an edit.
  const seen = isFirst ? lastChecked(agent, plan.name) : undefined;
  const ticks = (calendars: Calendars, last: LastChecked | undefined) =>
    ticksSince(last, { ...limited(plan, calendars), catchUp: plan.catchUp }, clock);
  if (plan.calendar === null) return ticks({}, seen);
  return calendars$.pipe(
    switchMap((calendars, index) => ticks(calendars, index === 0 ? seen : undefined)),
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

function triggered(
  { event, name, plan }: PlanEvent,
  due: Map<string, number>,
  paused: boolean,
  sources: TriggerSources,
): Triggered {
  if (event.type === "next") {
    if (event.at === null) due.delete(name);
    else due.set(name, event.at);
    return nextRunEvent(name, plan, due, sources);
  }
  if (event.type === "missed") {
    return refused(cronItem(event.last, name, sources), "missed", missedReason(event));
  }
  const item = cronItem(event.scheduledFor, name, sources);
  return paused ? refused(item, "skipped", "the scheduler is paused") : item;
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

function missedReason({ count, more }: Extract<CronEvent, { type: "missed" }>): string {
  if (count === 1) return "no scheduler was up for it";
  return `no scheduler was up for ${more ? "more than " : ""}${count} ticks`;
}

function cronItem(
  scheduledFor: number,
  schedule: string,
  { agent, clock, newId }: TriggerSources,
): WorkItem {
  const named = schedule === "" ? {} : { schedule };
  const trigger = { kind: "cron", scheduledFor, ...named } as const;
  return { id: newId(), agent, at: clock.now(), attempt: 1, trigger };
}

function refused(item: WorkItem, outcome: "skipped" | "missed", reason: string): RunEvent {
  const { agent, at } = item;
  return { type: "refused", agent, at, item, outcome, reason };
}
