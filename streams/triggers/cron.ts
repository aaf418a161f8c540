import { Observable, type Subscription } from "rxjs";
import type { Clock } from "../clock.ts";
import { maxSlots } from "../agent-config.ts";
import { countTicks } from "./count-ticks.ts";
import { nextTick, type Schedule } from "./next-tick.ts";

export interface CronPlan extends Schedule {
  /** Ticks missed while no scheduler was up are skipped, the latest runs once, or all run. */
  readonly catchUp: "none" | "latest" | "all";
  /** The most ticks that run by `all`: earlier ones stay missed. */
  readonly catchUpMost: number;
}

/** Times are epoch ms. */
export type CronEvent =
  | { readonly type: "next"; readonly at: number | null }
  | { readonly type: "tick"; readonly scheduledFor: number }
  | {
      readonly type: "missed";
      readonly slots: readonly number[];
      /** Those before `slots` when there are too many to list. */
      readonly earlier: EarlierSlots | null;
    }
  /** Missed ticks that are to run one after another, in this order. */
  | { readonly type: "late"; readonly slots: readonly number[] };

export interface EarlierSlots {
  readonly first: number;
  readonly count: number;
}

/** A tick this late, in ms, still counts as on time: this covers the clock's own sleep and a busy machine. */
const toleranceMs = 60_000;
/** Ticks are at least this far apart, in ms. */
const minuteMs = 60_000;

/**
 * The ticks of one schedule, forever: first when the next one is due, then the tick, and so on. Ticks that passed
 * unseen (a suspended machine, a clock set forward, a scheduler that was down since `since`) come as one `missed`, and as
 * one `late` if they are to run.
 *
 *     clock:   ────9:00────────────────(asleep)────13:30──
 *     out:     n───(t n)───────────────────────────(m n)──     n next   t tick   m missed
 */
export function cronTicks(plan: CronPlan, clock: Clock, since?: number): Observable<CronEvent> {
  return new Observable((subscriber) => {
    let awakeSince = clock.now();
    let last = since ?? awakeSince;
    let wait: Subscription | undefined;
    const next = (): void => {
      const due = nextTick(plan, last);
      subscriber.next({ type: "next", at: due });
      // A schedule that is never due again stays subscribed and silent.
      if (due === null || subscriber.closed) return;
      wait = clock.at(due).subscribe((woken) => {
        // A clock that was set back must not make the same tick due twice.
        last = Math.max(woken, due);
        for (const event of dueEvents(plan, due, last, awakeSince)) subscriber.next(event);
        if (!subscriber.closed) next();
      });
    };
    // A clock that was briefly far ahead must not silence the schedule until it is there again.
    const setBack = clock.setBack$.subscribe((now) => {
      wait?.unsubscribe();
      awakeSince = last = now;
      next();
    });
    next();
    return () => {
      setBack.unsubscribe();
      wait?.unsubscribe();
    };
  });
}

/**
 * The ticks due by an earlier plan from `since` to `now` (epoch ms) while no scheduler was up: at most one `missed`, and
 * those that run if `plan` catches up.
 */
export function missedTicks(plan: CronPlan, since: number, now: number): CronEvent[] {
  const due = nextTick(plan, since);
  return due === null || due > now ? [] : dueEvents(plan, due, now, now);
}

/** `awakeSince`: ticks due before it were never on time, because no scheduler was up. */
function dueEvents(plan: CronPlan, due: number, now: number, awakeSince: number): CronEvent[] {
  const { slots, earlier } = slotsUntil(plan, due, now);
  const latest = slots.at(-1) ?? due;
  const onTime = latest > awakeSince && now - latest <= toleranceMs;
  const isAll = plan.catchUp === "all" && !(onTime && slots.length === 1);
  const late = isAll ? slots.slice(-plan.catchUpMost) : [];
  const runs = !isAll && (onTime || plan.catchUp === "latest");
  const missed = slots.slice(0, slots.length - late.length - Number(runs));
  const events: CronEvent[] = [];
  if (missed.length > 0 || earlier !== null) {
    events.push({ type: "missed", slots: missed, earlier });
  }
  if (isAll) events.push({ type: "late", slots: late });
  if (runs) events.push({ type: "tick", scheduledFor: latest });
  return events;
}

/** The latest ticks from `due` to `now`, both included, and those before them. */
function slotsUntil(plan: CronPlan, due: number, now: number) {
  const from = listedFrom(plan, due, now);
  const slots = ticksFrom(plan, from, now).slice(-maxSlots);
  const [first = due] = slots;
  if (first === due) return { slots, earlier: null };
  return { slots, earlier: { first: due, count: countTicks(plan, due - 1, first - 1) } };
}

/** A moment from `due` on with `maxSlots` ticks or a few more from it to `now`. */
function listedFrom(plan: CronPlan, due: number, now: number): number {
  for (let backMs = maxSlots * minuteMs; now - backMs > due; backMs *= 2) {
    if (countTicks(plan, now - backMs, now) >= maxSlots) return now - backMs;
  }
  return due;
}

/** The ticks from `from` to `to` (epoch ms), both included; with `most`, the first of them. */
export function ticksFrom(
  schedule: Schedule,
  from: number,
  to: number,
  most = Infinity,
): readonly number[] {
  const slots: number[] = [];
  let tick = nextTick(schedule, from - 1);
  while (tick !== null && tick <= to && slots.length < most) {
    slots.push(tick);
    tick = nextTick(schedule, tick);
  }
  return slots;
}
