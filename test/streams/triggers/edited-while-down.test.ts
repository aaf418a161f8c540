import { EMPTY, map, NEVER, of, startWith, takeUntil, timer, toArray } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import { isWork, triggersFor } from "../../../streams/triggers/triggers-for.ts";
import type { LastChecked, Triggered } from "../../../streams/triggers/triggers-for.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { anAgent } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";

const minute = 60_000;

/** What an agent's first minute brings, at midnight, when `before` was its schedule 15 minutes ago. */
function firstMinute(before: string, now: Partial<AgentConfig>): string[] {
  let said: string[] = [];
  marbles(({ scheduler, flush }) => {
    const schedule = { expression: before, timezone: "UTC" };
    const config = anAgent("dev", { schedule: "8-59/10 * * * *", ...now });
    const lastChecked = (): LastChecked => ({ at: -15 * minute, schedule });
    triggersFor({
      agent: "dev",
      agent$: NEVER.pipe(startWith({ config, present: true })),
      enabled$: of(true),
      paused$: of(false),
      work$: EMPTY,
      clock: createClock(scheduler),
      newId: () => "new",
      lastChecked,
      calendars$: of({}),
    })
      .pipe(takeUntil(timer(minute, scheduler)), map(inWords), toArray())
      .subscribe((all) => (said = all));
    flush();
  });
  return said;
}

function inWords(triggered: Triggered): string {
  if (isWork(triggered)) {
    const { trigger } = triggered;
    return trigger.kind === "cron" ? `run for ${time(trigger.scheduledFor)}` : "other work";
  }
  if (triggered.type === "next-run") return `next ${time(triggered.nextRunAt ?? NaN)}`;
  if (triggered.type === "missed") return `missed: ${triggered.reason}`;
  if (triggered.type === "late") return `late: ${triggered.slots.map(time).join(", ")}`;
  return "something else";
}

const time = (at: number): string => new Date(at).toISOString().slice(11, 16);

test.each<[name: string, before: string, now: Partial<AgentConfig>, said: string[]]>([
  [
    "that was edited reports missed ticks of the old schedule",
    "*/4 * * * *",
    {},
    ["missed: no scheduler was running for 4 ticks", "next 00:08"],
  ],
  [
    "that was edited catches up the latest tick of the old schedule",
    "*/4 * * * *",
    { catchUp: "latest" },
    ["missed: no scheduler was running for 3 ticks", "run for 00:00", "next 00:08"],
  ],
  [
    "that was edited catches up all ticks of the old schedule",
    "*/4 * * * *",
    { catchUp: "all", catchUpMost: 3 },
    ["missed: no scheduler was running", "late: 23:52, 23:56, 00:00", "next 00:08"],
  ],
  [
    "that was edited reports no missed tick if the old schedule had none",
    "0 9 1 * *",
    { schedule: "* * * * *", catchUp: "latest" },
    ["next 00:01"],
  ],
  [
    "counts as edited in another time zone",
    "8-59/10 * * * *",
    { timezone: "Asia/Kolkata", catchUp: "latest" },
    ["missed: no scheduler was running", "run for 23:58", "next 00:08"],
  ],
  [
    "that was not edited reports its own missed ticks",
    "8-59/10 * * * *",
    {},
    ["next 23:48", "missed: no scheduler was running for 2 ticks", "next 00:08"],
  ],
])("after a downtime of the scheduler, a schedule %s", (_name, before, now, said) => {
  expect(firstMinute(before, now)).toEqual(said);
});
