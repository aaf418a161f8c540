import { EMPTY, map, NEVER, of, startWith, takeUntil, timer, toArray } from "rxjs";
import { describe, expect, it } from "vitest";
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
  if (triggered.type === "refused") return `${triggered.outcome}: ${triggered.reason}`;
  return "something else";
}

const time = (at: number): string => new Date(at).toISOString().slice(11, 16);

describe("a schedule that was edited while the scheduler was down", () => {
  it("is told by what came due of the one before", () => {
    const missed = "missed: no scheduler was up for 4 ticks";
    expect(firstMinute("*/4 * * * *", {})).toEqual([missed, "next 00:08"]);
  });

  it("is caught up with by one run for the latest of the one before", () => {
    const missed = "missed: no scheduler was up for 3 ticks";
    const caughtUp = [missed, "run for 00:00", "next 00:08"];
    expect(firstMinute("*/4 * * * *", { catchUp: "latest" })).toEqual(caughtUp);
  });

  it("missed nothing where the one before was not due, however often it is due now", () => {
    const every = { schedule: "* * * * *", catchUp: "latest" } as const;
    expect(firstMinute("0 9 1 * *", every)).toEqual(["next 00:01"]);
  });

  it("is another one in another time zone, too", () => {
    const elsewhere = { timezone: "Asia/Kolkata", catchUp: "latest" } as const;
    expect(firstMinute("8-59/10 * * * *", elsewhere)).toEqual([
      "missed: no scheduler was up for it",
      "run for 23:58",
      "next 00:08",
    ]);
  });

  it("that was not edited is told by itself", () => {
    expect(firstMinute("8-59/10 * * * *", {})).toEqual([
      "next 23:48",
      "missed: no scheduler was up for 2 ticks",
      "next 00:08",
    ]);
  });
});
