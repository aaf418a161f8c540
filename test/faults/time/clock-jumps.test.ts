import fc from "fast-check";
import { createClock } from "../../../streams/clock.ts";
import { cronTicks, type CronEvent, type CronPlan } from "../../../streams/triggers/cron.ts";
import { maxSlots } from "../../../streams/agent-config.ts";
import { nextTick } from "../../../streams/triggers/next-tick.ts";
import { VirtualCalendar } from "../../helpers/marbles.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const start = Date.parse("2026-03-27T21:07:11Z");

/** Time that passes while the scheduler is awake, or a jump of its clock: asleep for so long, or set anew. */
type Step = { readonly awakeMs: number } | { readonly jumpMs: number };

interface Lived {
  readonly ticks: readonly number[];
  /** NaN when they were too many to be counted. */
  readonly missed: number;
  /** Ticks that came after each step. */
  readonly afterStep: readonly number[];
  /** The latest moment that the clock showed. */
  readonly reached: number;
}

function live(plan: CronPlan, steps: readonly Step[]): Lived {
  const calendar = new VirtualCalendar(new Date(start).toISOString());
  const ticks: number[] = [];
  let missed = 0;
  const see = (event: CronEvent): void => {
    if (event.type === "tick") ticks.push(event.scheduledFor);
    if (event.type === "late") ticks.push(...event.slots);
    if (event.type === "missed") missed += event.earlier ? Number.NaN : event.slots.length;
  };
  const subscription = cronTicks(plan, createClock(calendar)).subscribe(see);
  let reached = start;
  const afterStep = steps.map((step) => {
    const before = ticks.length;
    if ("jumpMs" in step) calendar.jump(step.jumpMs);
    else calendar.runUntil(new Date(calendar.now() + step.awakeMs).toISOString());
    reached = Math.max(reached, calendar.now());
    return ticks.length - before;
  });
  subscription.unsubscribe();
  return { ticks, missed, afterStep, reached };
}

function dueBetween(plan: CronPlan, from: number, to: number): readonly number[] {
  const due: number[] = [];
  for (let next = nextTick(plan, from); next !== null && next <= to;) {
    due.push(next);
    next = nextTick(plan, next);
  }
  return due;
}

const expressions = ["*/10 * * * *", "0 * * * *", "30 2 * * *", "15 */6 * * *"];
const zones = ["UTC", "Europe/Berlin", "Australia/Lord_Howe"];
const plans = fc.record({
  expression: fc.constantFrom(...expressions),
  timezone: fc.constantFrom(...zones),
  catchUp: fc.constantFrom("none" as const, "latest" as const, "all" as const),
  catchUpMost: fc.integer({ min: 1, max: maxSlots }),
});
const asleep = fc.integer({ min: 1, max: 40 * hourMs }).map((jumpMs) => ({ jumpMs }));
const setBack = fc.integer({ min: 1, max: 10 * minuteMs }).map((ms) => ({ jumpMs: -ms }));
const awake = fc.integer({ min: 31_000, max: 30 * hourMs }).map((awakeMs) => ({ awakeMs }));

test("a schedule accounts for every tick once, as run or missed, when the clock jumps or the machine sleeps", () => {
  const life = fc.array(fc.tuple(fc.oneof(asleep, setBack), awake), { maxLength: 5 });
  fc.assert(
    fc.property(plans, life, (plan, pairs) => {
      const { ticks, missed, reached } = live(plan, [{ awakeMs: hourMs }, ...pairs.flat()]);
      const due = dueBetween(plan, start, reached);
      expect(ticks).toEqual([...new Set(ticks)].sort((a, b) => a - b));
      for (const tick of ticks) expect(due).toContain(tick);
      if (!Number.isNaN(missed)) expect(ticks.length + missed).toBe(due.length);
    }),
    { numRuns: 60 },
  );
});

test("a schedule follows the clock within a minute after it was set far ahead and back", () => {
  const plan: CronPlan = { expression: "0 * * * *", timezone: "UTC", catchUp: "none", catchUpMost: 24 };
  const { afterStep } = live(plan, [
    { awakeMs: hourMs },
    { jumpMs: 400 * dayMs },
    { awakeMs: 90_000 },
    { jumpMs: -400 * dayMs },
    { awakeMs: 3 * hourMs },
  ]);
  expect(afterStep).toEqual([1, 0, 0, 0, 3]);
});
