import { Observable, type Subscription } from "rxjs";
import type { Clock } from "../clock.ts";
import { nextRun, type LimitedSchedule } from "./next-run.ts";

export interface CronPlan extends LimitedSchedule {
  /** Ticks missed while no scheduler was up are skipped, or the latest runs once. */
  readonly catchUp: "none" | "latest";
}

/** Times are epoch ms. */
export type CronEvent =
  | { readonly type: "next"; readonly at: number | null }
  | { readonly type: "tick"; readonly scheduledFor: number }
  | {
      readonly type: "missed";
      readonly first: number;
      readonly last: number;
      /** At most `maxCounted`; `more` if there are more. */
      readonly count: number;
      readonly more: boolean;
    };

/** A tick this late, in ms, still counts as on time: this covers the clock's own sleep and a busy machine. */
const toleranceMs = 60_000;
/** Ticks are counted one by one up to this; each costs a third of a millisecond, and all agents wake at once. */
const maxCounted = 100;
/** Ticks are at least this far apart, in ms. */
const minuteMs = 60_000;

/**
 * The ticks of one schedule, forever: first when the next one is due, then the tick, and so on. Ticks that passed
 * unseen (a suspended machine, a clock set forward, a scheduler that was down since `since`) come as one `missed`.
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
      const due = nextRun(plan, last);
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
 * a tick for the latest if `plan` catches up.
 */
export function missedTicks(plan: CronPlan, since: number, now: number): CronEvent[] {
  const due = nextRun(plan, since);
  return due === null || due > now ? [] : dueEvents(plan, due, now, now);
}

/** `awakeSince`: ticks due before it were never on time, because no scheduler was up. */
function dueEvents(plan: CronPlan, due: number, now: number, awakeSince: number): CronEvent[] {
  const { latest, before, count, more } = ticksUntil(plan, due, now);
  const onTime = latest > awakeSince && now - latest <= toleranceMs;
  const runs = onTime || plan.catchUp === "latest";
  const missed = runs ? count - 1 : count;
  const events: CronEvent[] = [];
  if (missed > 0) {
    events.push({ type: "missed", first: due, last: runs ? before : latest, count: missed, more });
  }
  if (runs) events.push({ type: "tick", scheduledFor: latest });
  return events;
}

interface Ticks {
  readonly latest: number;
  /** The tick before the latest; the same if there is only one. */
  readonly before: number;
  readonly count: number;
  readonly more: boolean;
}

/** The ticks from `due` to `now`, both included. */
function ticksUntil(plan: CronPlan, due: number, now: number): Ticks {
  let latest = due;
  let before = due;
  for (let count = 1; count <= maxCounted; count++) {
    const next = nextRun(plan, latest);
    if (next === null || next > now) return { latest, before, count, more: false };
    before = latest;
    latest = next;
  }
  latest = latestTick(plan, latest, now);
  return { latest, before: latestTick(plan, due, latest - 1), count: maxCounted, more: true };
}

/** The latest tick up to `now`, by binary search from an earlier one. */
function latestTick(plan: CronPlan, earlier: number, now: number): number {
  let latest = earlier;
  // No tick lies between this and `now`.
  let free = now;
  while (free - latest >= minuteMs) {
    const middle = Math.floor((latest + free) / 2);
    const next = nextRun(plan, middle);
    if (next !== null && next <= now) latest = next;
    else free = middle;
  }
  return latest;
}
