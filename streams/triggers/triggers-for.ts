import {
  combineLatest,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  map,
  merge,
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

/** Whether an item is a tick of the schedule: the next one is due anyway. A rerun, retried or replayed tick comes once. */
export function isTick({ trigger, attempt, replayOf }: WorkItem): boolean {
  if (trigger.kind !== "cron" || trigger.rerun !== undefined) return false;
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
    map(([event, paused]) => triggered(event, paused, sources)),
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
  const before = { ...schedule, catchUp: plan.catchUp };
  return concat(
    defer(() => missedTicks(before, at, clock.now())),
    cronTicks(plan, clock),
  );
}

function planOf(config: AgentConfig | null): CronPlan | null {
  if (config === null || config.schedule === null || config.scale === 0) return null;
  return { expression: config.schedule, timezone: config.timezone, catchUp: config.catchUp };
}

function samePlan(a: CronPlan | null, b: CronPlan | null): boolean {
  return (
    a?.expression === b?.expression && a?.timezone === b?.timezone && a?.catchUp === b?.catchUp
  );
}

function triggered(event: CronEvent, paused: boolean, sources: TriggerSources): Triggered {
  const at = { agent: sources.agent, at: sources.clock.now() };
  if (event.type === "next") return { ...at, type: "next-run", nextRunAt: event.at };
  if (event.type === "missed") {
    return refused(cronItem(event.last, sources), "missed", missedReason(event));
  }
  const item = cronItem(event.scheduledFor, sources);
  return paused ? refused(item, "skipped", "the scheduler is paused") : item;
}

function missedReason({ count, more }: Extract<CronEvent, { type: "missed" }>): string {
  if (count === 1) return "no scheduler was running";
  return `no scheduler was running for ${more ? "more than " : ""}${count} ticks`;
}

function cronItem(scheduledFor: number, { agent, clock, newId }: TriggerSources): WorkItem {
  const trigger = { kind: "cron", scheduledFor } as const;
  return { id: newId(), agent, at: clock.now(), attempt: 1, trigger };
}

function refused(item: WorkItem, outcome: "skipped" | "missed", reason: string): RunEvent {
  const { agent, at } = item;
  return { type: "refused", agent, at, item, outcome, reason };
}
