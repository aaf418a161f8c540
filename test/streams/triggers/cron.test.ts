import { createClock } from "../../../streams/clock.ts";
import { cronTicks, type CronEvent, type CronPlan } from "../../../streams/triggers/cron.ts";
import { VirtualCalendar } from "../../helpers/marbles.ts";

/** A moment of May 2026, such as `04T09:00:00`. */
const may = (time: string): string => `2026-05-${time}Z`;

interface Life {
  readonly expression: string;
  readonly catchUp?: CronPlan["catchUp"];
  readonly catchUpMost?: number;
  readonly from: string;
  readonly to: string;
  /** Until when its ticks were checked before. */
  readonly since?: string;
  /** When the clock is set, by how many ms. */
  readonly jump?: readonly [at: string, byMs: number];
}

/** Everything that a schedule does between two moments of May, each event in one line. */
function lived({ from, to, since, jump, expression, ...late }: Life): string[] {
  const calendar = new VirtualCalendar(may(from));
  const seen: string[] = [];
  const checked = since === undefined ? undefined : Date.parse(may(since));
  const plan = { expression, timezone: "UTC", catchUp: "none", catchUpMost: 24, ...late } as const;
  const event$ = cronTicks(plan, createClock(calendar), checked);
  const subscription = event$.subscribe((event) => seen.push(line(event)));
  if (jump !== undefined) {
    calendar.runUntil(may(jump[0]));
    calendar.jump(jump[1]);
  }
  calendar.runUntil(may(to));
  subscription.unsubscribe();
  return seen;
}

function line(event: CronEvent): string {
  const iso = (time: number): string => new Date(time).toISOString().slice(8, 16);
  if (event.type === "tick") return `tick ${iso(event.scheduledFor)}`;
  if (event.type === "next") return `next ${event.at === null ? "never" : iso(event.at)}`;
  const { slots, earlier } = { earlier: null, ...event };
  const range = `${event.type} ${slots.length}: ${iso(slots[0] ?? NaN)} to ${iso(slots.at(-1) ?? NaN)}`;
  return earlier === null ? range : `${range}, ${earlier.count} from ${iso(earlier.first)} on`;
}

const hourly = "0 * * * *";
const down = { expression: hourly, from: "04T09:30:00", to: "04T09:59:00", since: "04T06:30:00" };

test.each<[does: string, life: Life, lines: string[]]>([
  [
    "emit the time of the next tick, then the tick, repeatedly",
    { expression: "0 9 * * *", from: "04T00:00:00", to: "05T10:00:00" },
    ["next 04T09:00", "tick 04T09:00", "next 05T09:00", "tick 05T09:00", "next 06T09:00"],
  ],
  [
    "emit once that a schedule is never due",
    { expression: "0 0 31 2 *", from: "04T00:00:00", to: "05T00:00:00" },
    ["next never"],
  ],
  [
    "are reported as missed if they passed while the scheduler was down",
    down,
    ["next 04T07:00", "missed 3: 04T07:00 to 04T09:00", "next 04T10:00"],
  ],
  [
    "do not run one that passed just before the start",
    { expression: "* * * * *", from: "04T09:30:20", to: "04T09:31:10", since: "04T09:29:30" },
    [
      "next 04T09:30",
      "missed 1: 04T09:30 to 04T09:30",
      "next 04T09:31",
      "tick 04T09:31",
      "next 04T09:32",
    ],
  ],
  [
    "include the latest missed tick with catchUp",
    { ...down, catchUp: "latest" },
    ["next 04T07:00", "missed 2: 04T07:00 to 04T08:00", "tick 04T09:00", "next 04T10:00"],
  ],
  [
    "are all late, in order, with catchUp for all",
    { ...down, catchUp: "all" },
    ["next 04T07:00", "late 3: 04T07:00 to 04T09:00", "next 04T10:00"],
  ],
  [
    "leave out the oldest missed ones beyond the most of catchUp",
    { ...down, catchUp: "all", catchUpMost: 2 },
    [
      "next 04T07:00",
      "missed 1: 04T07:00 to 04T07:00",
      "late 2: 04T08:00 to 04T09:00",
      "next 04T10:00",
    ],
  ],
  [
    "are on time with catchUp for all while none was missed",
    { expression: hourly, from: "04T08:30:00", to: "04T09:30:00", catchUp: "all" },
    ["next 04T09:00", "tick 04T09:00", "next 04T10:00"],
  ],
  [
    "are listed up to a hundred, and those before them are counted",
    { ...down, expression: "* * * * *", to: "04T09:30:30" },
    ["next 04T06:31", "missed 100: 04T07:51 to 04T09:30, 80 from 04T06:31 on", "next 04T09:31"],
  ],
  [
    "come as one missed event after the machine slept",
    {
      expression: "*/10 * * * *",
      from: "04T00:00:00",
      jump: ["04T00:05:00", 3_600_000],
      to: "04T01:06:00",
    },
    ["next 04T00:10", "missed 6: 04T00:10 to 04T01:00", "next 04T01:10"],
  ],
  [
    "come once when the clock is set back",
    { expression: hourly, from: "04T00:00:00", jump: ["04T01:00:10", -60_000], to: "04T01:30:00" },
    ["next 04T01:00", "tick 04T01:00", "next 04T02:00"],
  ],
])("cron ticks %s", (_does, life, lines) => expect(lived(life)).toEqual(lines));
