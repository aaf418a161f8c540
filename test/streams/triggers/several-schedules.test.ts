import { concat, filter, NEVER, of } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import type { AgentConfig, ScheduleEntry } from "../../../streams/agent-config.ts";
import type { Calendars } from "../../../streams/triggers/calendar.ts";
import { isWork, triggersFor } from "../../../streams/triggers/triggers-for.ts";
import type { CheckedBefore, Triggered } from "../../../streams/triggers/triggers-for.ts";
import { anAgent } from "../../helpers/agents.ts";
import { marbles, minutes } from "../../helpers/marbles.ts";

function entry(name: string, expression: string, calendar: ScheduleEntry["calendar"] = null) {
  return { name, expression, timezone: "UTC", prompt: null, params: {}, calendar };
}

const a = entry("a", "*/5 * * * *");
const b = entry("b", "3-59/10 * * * *");
const skip = { skip: ["freeze"], only: [] };
const configs: Record<string, AgentConfig> = {
  a: anAgent("dev", { schedules: [a] }),
  b: anAgent("dev", { schedules: [b] }),
  t: anAgent("dev", { schedules: [a, b] }),
  p: anAgent("dev", { schedules: [{ ...a, prompt: "Other." }, b] }),
  s: anAgent("dev", { schedule: "*/5 * * * *", schedules: [b] }),
  c: anAgent("dev", { schedules: [entry("a", "*/5 * * * *", skip)] }),
  l: anAgent("dev", { schedules: [a, b], catchUp: "latest" }),
};
const agents = Object.fromEntries(
  Object.entries(configs).map(([letter, config]) => [letter, { config, present: true }]),
);

const minuteMs = 60_000;
const frozen = (from: number, until: number): Calendars => {
  const span = { from: from * minuteMs, until: until * minuteMs, isLocal: false, text: "" };
  return { freeze: { spans: [span], windows: [] } };
};
/** No freeze; minutes 4 to 12; minutes 4 to 17. */
const freezes = { n: { freeze: { spans: [], windows: [] } }, f: frozen(4, 12), g: frozen(4, 17) };

/** A tick as the name of its schedule, `s` for the short one; a next run as its minute; `M` for missed. */
function letterOf(triggered: Triggered): string {
  if (isWork(triggered)) {
    return (triggered.trigger.kind === "cron" ? triggered.trigger.schedule : undefined) ?? "s";
  }
  if (triggered.type === "next-run") return "n";
  return triggered.type === "missed" ? "M" : "?";
}

interface Lines {
  readonly config: string;
  readonly freeze?: string;
  readonly checked?: CheckedBefore;
}

/** The triggers of some minutes as a diagram; unlike in a marble diagram, a group takes one column. */
function drawn({ config, freeze = "n", checked = () => undefined }: Lines, until: number): string {
  const columns = Array.from({ length: until }, (): string[] => []);
  marbles(({ hot, cold, scheduler, flush }) => {
    const triggered$ = triggersFor({
      agent: "dev",
      agent$: hot(minutes(config), agents),
      enabled$: of(true),
      paused$: of(false),
      work$: NEVER,
      clock: createClock(scheduler),
      newId: () => "new",
      lastChecked: checked,
      calendars$: cold(minutes(freeze), freezes),
    });
    const subscription = triggered$.subscribe((triggered) => {
      columns[Math.floor(scheduler.now() / minuteMs)]?.push(letterOf(triggered));
    });
    scheduler.schedule(() => subscription.unsubscribe(), until * minuteMs - 1);
    flush();
  });
  return columns.map((all) => (all.length > 1 ? `(${all.join("")})` : (all[0] ?? "-"))).join("");
}

test.each<[does: string, lines: Lines, expected: string]>([
  ["tick each by its own expression", { config: "t" }, "(nn)--(bn)-(an)----(an)--(bn)-"],
  ["tick beside the short one", { config: "s" }, "(nn)--(bn)-(sn)----(sn)--(bn)-"],
  [
    "keep the next tick of one while another is added",
    { config: "a-t" },
    "n-n(bn)-(an)----(an)--(bn)-",
  ],
  [
    "stop with their entry, and leave the others alone",
    { config: "t---b" },
    "(nn)--(bn)n--------(bn)-",
  ],
  [
    "keep their next tick when only a prompt changes",
    { config: "t-p" },
    "(nn)--(bn)-(an)----(an)--(bn)-",
  ],
  ["leave out the ticks in a calendar", { config: "c", freeze: "f" }, "n--------------(an)----"],
  [
    "follow a calendar that changes",
    { config: "c", freeze: "n--f-----g" },
    "n--n-----n----------(an)---",
  ],
])("the schedules of an agent %s", (_does, lines, expected) => {
  const until = expected.replaceAll(/\([^)]*\)/g, "x").length;
  expect(drawn(lines, until)).toBe(expected);
});

const down: CheckedBefore = (_agent, schedule) =>
  schedule === "a"
    ? { at: -12 * minuteMs, schedule: { expression: a.expression, timezone: "UTC" } }
    : undefined;

test("only the schedule that an earlier scheduler had has missed ticks", () => {
  expect(drawn({ config: "t", checked: down }, 3)).toBe("(nnMn)--");
});

test("catchUp runs the latest missed tick of each schedule", () => {
  expect(drawn({ config: "l", checked: down }, 3)).toBe("(nnMan)--");
});

test("a next run names the schedule that was checked, and the time of the one that is due first", () => {
  const seen: Triggered[] = [];
  marbles(({ scheduler, flush }) => {
    const subscription = triggersFor({
      agent: "dev",
      agent$: concat(of(agents.t), NEVER).pipe(filter((one) => one !== undefined)),
      enabled$: of(true),
      paused$: of(false),
      work$: NEVER,
      clock: createClock(scheduler),
      newId: () => "new",
      lastChecked: () => undefined,
      calendars$: of({}),
    }).subscribe((triggered) => seen.push(triggered));
    scheduler.schedule(() => subscription.unsubscribe(), 4 * minuteMs);
    flush();
  });
  const next = seen.filter((one) => "type" in one);
  expect(next).toMatchObject([
    { schedule: "a", nextRunAt: 5 * minuteMs, checked: { expression: a.expression } },
    { schedule: "b", nextRunAt: 3 * minuteMs, checked: { expression: b.expression } },
    { schedule: "b", nextRunAt: 5 * minuteMs },
  ]);
});
