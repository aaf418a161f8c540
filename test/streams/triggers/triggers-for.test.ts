import { map, of, type Observable } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import { isWork, triggersFor } from "../../../streams/triggers/triggers-for.ts";
import type { Triggered, TriggerSources } from "../../../streams/triggers/triggers-for.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { marbles, minutes, type Marbles } from "../../helpers/marbles.ts";

const every5 = "*/5 * * * *";
/** Eight minutes past, eighteen minutes past …: time starts at midnight, which is no tick of it. */
const every10 = "8-59/10 * * * *";

/** Active configs: `a` and `b` differ in their title only; with `x` there is none, with `g` the directory is gone. */
const configs: Record<string, AgentConfig | null> = {
  a: anAgent("dev", { schedule: every5 }),
  b: anAgent("dev", { schedule: every5, title: "b" }),
  c: anAgent("dev", { schedule: every10 }),
  l: anAgent("dev", { schedule: every10, catchUp: "latest" }),
  s: anAgent("dev", { schedule: null }),
  z: anAgent("dev", { schedule: every5, scale: 0 }),
  x: null,
};
const agents = Object.fromEntries([
  ...Object.entries(configs).map(([letter, config]) => [letter, { config, present: true }]),
  ["g", { config: configs.a, present: false }],
]) as Record<string, { config: AgentConfig | null; present: boolean }>;
const yesNo = { y: true, n: false };
const items: Record<string, WorkItem> = { "1": anItem("1"), "2": anItem("2"), "3": anItem("3") };

/** What comes in; a column is a minute, and time starts at midnight. */
interface Lines {
  readonly config: string;
  readonly enabled?: string;
  readonly paused?: string;
  readonly work?: string;
}

const seen15MinutesAgo: TriggerSources["lastChecked"] = () => ({
  at: -15 * 60_000,
  schedule: { expression: every10, timezone: "UTC" },
});

function sourcesOf(
  { hot, cold, scheduler }: Marbles,
  lines: Lines,
  lastChecked: TriggerSources["lastChecked"] = () => undefined,
): TriggerSources {
  return {
    agent: "dev",
    agent$: hot(minutes(lines.config), agents),
    enabled$: cold(minutes(lines.enabled ?? "y"), yesNo),
    paused$: cold(minutes(lines.paused ?? "n"), yesNo),
    work$: hot(minutes(lines.work ?? "-"), items),
    clock: createClock(scheduler),
    newId: () => "new",
    lastChecked,
    calendars$: of({}),
  };
}

/** `n` a next run, `0` none, `t` a tick, `s` skipped, `m` missed; other work by its id. */
function letterOf(triggered: Triggered): string {
  if (isWork(triggered)) return triggered.trigger.kind === "cron" ? "t" : triggered.id;
  if (triggered.type === "next-run") return triggered.nextRunAt === null ? "0" : "n";
  return triggered.type === "refused" ? triggered.outcome.charAt(0) : triggered.type;
}

const triggers = (sources: TriggerSources): Observable<string> =>
  triggersFor(sources).pipe(map(letterOf));

type Row = [name: string, lines: Lines, minutes: number | null, expected: string];

/** An agent without ticks: from the start, and from the third minute on. */
const withoutTicks = [
  ["s", "without a schedule"],
  ["z", "with scale 0"],
  ["x", "with an invalid config"],
  ["g", "in a removed directory"],
].flatMap(([config = "", how = ""]): Row[] => [
  [`have no tick ${how}`, { config }, 9, "-"],
  [`have no further tick ${how}`, { config: `a--${config}` }, 9, "n--0"],
]);

describe("the triggers of an agent", () => {
  test.each<Row>([
    ...withoutTicks,
    [
      "are its cron ticks and the work addressed to it",
      { config: "a", work: "--1------2" },
      13,
      "n-1--(tn)2(tn)",
    ],
    [
      "keep the next tick of a schedule that did not change",
      { config: "a--b-------b" },
      15,
      "n----(tn)-(tn)",
    ],
    ["switch to a new schedule", { config: "a--c" }, 13, "n--n----(tn)"],
    [
      "have no tick while the agent is disabled",
      { config: "a", enabled: "y--n-----y" },
      13,
      "n--0-----n(tn)",
    ],
    [
      "have no ticks while the scheduler is paused, and resume afterwards",
      { config: "a", paused: "n--y-------n" },
      18,
      "n----n----n----(tn)",
    ],
    [
      "have no ticks while paused however often the config is read again",
      { config: "abacb--ab-aba", paused: "y" },
      13,
      "n--nnn----n",
    ],
    [
      "pass other work while the scheduler is paused",
      { config: "a", paused: "y", work: "-1-2" },
      6,
      "n1-2-n",
    ],
    [
      "are correct after a burst of configs and work",
      { config: "-(abac)", work: "------------(123)" },
      15,
      "-(nn)---(tn)(123)",
    ],
    [
      "complete once all sources have completed and no tick is due",
      { config: "--|", enabled: "(y|)", paused: "(n|)", work: "----|" },
      null,
      "----|",
    ],
    ["pass on an error of the configs", { config: "a-#" }, null, "n-#"],
    ["pass on an error of the work", { config: "a", work: "--#" }, null, "n-#"],
  ])("%s", (_name, lines, until, expected) =>
    marbles((helpers) => {
      const out$ = triggers(sourcesOf(helpers, lines));
      const end = until === null ? undefined : `${until}m !`;
      helpers.expectObservable(out$, end).toBe(minutes(expected));
    }),
  );

  test.each<[what: string, lines: Lines]>([
    ["an edit of the schedule", { config: "s--c" }],
    ["the config became valid", { config: "x--c" }],
    ["the agent was enabled", { config: "c", enabled: "n--y" }],
  ])("do not report missed ticks from before %s", (_what, lines) =>
    marbles((helpers) => {
      const out$ = triggers(sourcesOf(helpers, lines, seen15MinutesAgo));
      helpers.expectObservable(out$, "10m !").toBe(minutes("---n----(tn)"));
    }),
  );

  test("contain a time and an agent, and an item with its reason for each missed tick", () => {
    const seen: Triggered[] = [];
    marbles((helpers) => {
      const sources = sourcesOf(helpers, { config: "c" }, seen15MinutesAgo);
      const subscription = triggersFor(sources).subscribe((triggered) => seen.push(triggered));
      helpers.scheduler.schedule(() => subscription.unsubscribe(), 19 * 60_000);
      helpers.flush();
    });
    const minute = 60_000;
    const at = (now: number) => ({ agent: "dev", at: now * minute });
    const tick = (now: number, due = now) => {
      const trigger = { kind: "cron", scheduledFor: due * minute };
      return { ...at(now), id: "new", attempt: 1, trigger };
    };
    const checked = { expression: every10, timezone: "UTC" };
    const next = (now: number) => ({ ...at(now), type: "next-run", schedule: "", checked });
    const missed = (due: number) => ({
      item: tick(0, due),
      reason: "no scheduler was running",
    });
    expect(seen.slice(0, 4)).toEqual([
      { ...next(0), nextRunAt: -12 * minute },
      {
        ...at(0),
        type: "missed",
        items: [missed(-12), missed(-2)],
        reason: "no scheduler was running for 2 ticks",
      },
      { ...next(0), nextRunAt: 8 * minute },
      tick(8),
    ]);
  });
});
