import { logEntriesOf } from "../../../streams/status/log-entries.ts";
import type { RunEvent, Trigger } from "../../../streams/vocabulary.ts";
import { callItem, webhookItem } from "../../foundation/store/support.ts";
import { anItem } from "../../helpers/agents.ts";
import { aProblem, eventsOf } from "./events.ts";

const dev = eventsOf("dev", 2500);

const lines = (event: RunEvent): string[] =>
  logEntriesOf(event).map(({ level, msg }) => `${level} ${msg}`);

describe("the log lines of an event", () => {
  test("are a run's own words unchanged", () => {
    const event = dev.output("hello");
    expect(logEntriesOf(event)).toEqual([
      { level: 30, time: 2500, msg: "hello", kind: "said", agent: "dev", instanceId: "dev-1" },
    ]);
  });

  test("have the time and the agent", () =>
    expect(logEntriesOf(dev.removed())).toEqual([
      { level: 40, time: 2500, agent: "dev", msg: "directory removed" },
    ]));

  test.each<[string, RunEvent, string[]]>([
    ["a load", dev.set(), ["30 loaded"]],
    ["an enabling", dev.enabled(true), ["30 enabled"]],
    ["a disabling", dev.enabled(false), ["30 disabled"]],
    [
      "what its runs lack",
      dev.requirements(aProblem({ message: "no token" }), aProblem({ severity: "warning" })),
      [
        "50 agents/dev/config.toml:4:12  no token",
        "40 agents/dev/config.toml:4:12  scale is not a number",
      ],
    ],
    ["that nothing is lacking", dev.requirements(), ["30 all requirements of its runs are met"]],
    ["a build", dev.buildStarted("building image"), ["30 building image"]],
    ["its progress", dev.buildProgress("step 1"), ["30 step 1"]],
    ["its failure", dev.buildFinished("no base image"), ["50 no base image"]],
    ["waiting", dev.queued(), ["30 queued manually"]],
    ["a refusal", dev.refused("dropped", "queue_full"), ["40 dropped: queue_full"]],
    ["a start", dev.started(), ["30 run started manually"]],
    ["a success", dev.finished(), ["30 run succeeded after 2.5 s"]],
    ["a failure", dev.finished("failed", "no key"), ["50 run failed after 2.5 s: no key"]],
    [
      "a timeout",
      dev.finished("timed_out", "too long"),
      ["50 run timed out after 2.5 s: too long"],
    ],
    ["a long run", { ...dev.finished(), at: 854_800 }, ["30 run succeeded after 14 min"]],
    ["a kill", dev.finished("killed"), ["40 run killed after 2.5 s"]],
  ])("have level and text for %s", (_what, event, expected) => {
    expect(lines(event)).toEqual(expected);
  });

  test("are none for a next run, a depth, a status text and the end of a build", () => {
    const quiet = [dev.nextRun(1), dev.depth(1), dev.statusText("reading"), dev.buildFinished()];
    expect(quiet.flatMap(lines)).toEqual([]);
  });

  test("are one line for each problem, with its place", () => {
    const unknown = aProblem({ severity: "warning", line: null, column: null, message: "unknown" });
    expect(lines(dev.invalid(aProblem(), aProblem({ line: 7, column: null })))).toEqual([
      "50 agents/dev/config.toml:4:12  scale is not a number",
      "50 agents/dev/config.toml:7  scale is not a number",
    ]);
    const set: RunEvent = { ...dev.set(), warnings: [unknown] } as RunEvent;
    expect(lines(set)).toEqual(["30 loaded", "40 agents/dev/config.toml  unknown"]);
  });

  const tick = { kind: "cron", scheduledFor: 0 } as const;
  const hook = webhookItem("1", "r1").trigger;
  const call = callItem("1");
  const prompt = "p".repeat(501);
  const scheduledFor = "1970-01-01T00:00:00.000Z";

  test.each<[name: string, trigger: Trigger, facts: object]>([
    ["by its schedule", tick, { scheduledFor }],
    ["by its rerun request", { ...tick, rerun: 1, slotsInUse: 2 }, { scheduledFor }],
    [
      "by its schedule, 2.5 s late: all 2 slots of the project were in use",
      { ...tick, slotsInUse: 2 },
      { scheduledFor },
    ],
    ["by github webhook issues", hook, { action: "opened", number: 1, receiptId: "r1" }],
    ["manually", { kind: "manual", prompt }, { prompt }],
    ["by a call", call.trigger, { callerInstance: "ops-1" }],
  ])("name and describe a run's trigger: %s", (name, trigger, facts) => {
    expect(logEntriesOf(dev.started("dev-1", anItem("1", "dev", trigger)))).toMatchObject([
      { level: 30, msg: `run started ${name}`, trigger: { kind: trigger.kind, ...facts } },
    ]);
  });

  test.each(["queued", "taken"] as const)(
    "have the caller as a field, and in no text: %s",
    (type) => {
      const [entry] = logEntriesOf({ ...dev.queued(), type, item: call });
      expect(entry).toMatchObject({ trigger: { callerInstance: "ops-1" } });
      expect(entry?.msg).not.toContain("ops");
    },
  );

  test("mark a run's start and end as such, with its numbers", () => {
    const [end] = logEntriesOf(dev.finished("failed", "no key", 1000));
    expect(end).toMatchObject({
      kind: "run",
      instanceId: "dev-1",
      outcome: "failed",
      exitCode: 1,
      durationMs: 1500,
    });
    expect(logEntriesOf(dev.started())[0]).toMatchObject({ kind: "run", instanceId: "dev-1" });
  });

  test("have the usage at a run's end", () => {
    const usage = { model: "haiku", tokens: 12, costUsd: 0.1, turns: 2 };
    const event = dev.finished() as Extract<RunEvent, { type: "finished" }>;
    expect(logEntriesOf({ ...event, end: { ...event.end, usage } })).toMatchObject([usage]);
  });
});
