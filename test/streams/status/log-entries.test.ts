import { logEntriesOf } from "../../../streams/status/log-entries.ts";
import type { RunEvent, Trigger } from "../../../streams/vocabulary.ts";
import { callItem, webhookItem } from "../../foundation/store/support.ts";
import { anItem } from "../../helpers/agents.ts";
import { aProblem, eventsOf } from "./events.ts";

const dev = eventsOf("dev", 2500);

const lines = (event: RunEvent): string[] =>
  logEntriesOf(event).map(({ level, msg }) => `${level} ${msg}`);

describe("the log lines of an event", () => {
  test("contain the time and the agent", () =>
    expect(logEntriesOf(dev.removed())).toEqual([
      { level: 40, time: 2500, agent: "dev", msg: "directory removed" },
    ]));

  test.each<[string, RunEvent, string[]]>([
    ["an enabled agent", dev.enabled(true), ["30 enabled"]],
    ["a disabled agent", dev.enabled(false), ["30 disabled"]],
    [
      "unmet requirements",
      dev.requirements(aProblem({ message: "no token" }), aProblem({ severity: "warning" })),
      [
        "50 agents/dev/config.toml:4:12  no token",
        "40 agents/dev/config.toml:4:12  scale is not a number",
      ],
    ],
    ["met requirements", dev.requirements(), ["30 all requirements of its runs are met"]],
    ["the failure of a build", dev.buildFinished("no base image"), ["50 no base image"]],
    ["queued work", dev.queued(), ["30 queued manually"]],
    ["dropped work", dev.refused("dropped", "queue_full"), ["40 dropped: queue_full"]],
    ["a run that succeeded", dev.finished(), ["30 run succeeded after 2.5 s"]],
    ["a long run", { ...dev.finished(), at: 854_800 }, ["30 run succeeded after 14 min"]],
    ["a killed run", dev.finished("killed"), ["40 run killed after 2.5 s"]],
  ])("contain level and text for %s", (_what, event, expected) => {
    expect(lines(event)).toEqual(expected);
  });

  test("are empty for a next run, a queue's depth, a status text and a successful build", () => {
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

  test("say how many gathered deliveries a run represents", () => {
    const item = { ...webhookItem("1", "r2"), gathered: ["r1", "r2"] };
    const text = "run started by github webhook issues, the latest of 2 deliveries";
    expect(logEntriesOf(dev.started("dev-1", item))).toMatchObject([{ msg: text }]);
  });

  test.each(["queued", "taken"] as const)(
    "contain the caller as a field, not in the text: %s",
    (type) => {
      const [entry] = logEntriesOf({ ...dev.queued(), type, item: call });
      expect(entry).toMatchObject({ trigger: { callerInstance: "ops-1" } });
      expect(entry?.msg).not.toContain("ops");
    },
  );

  test("contain the instance at a run's start, and outcome and duration at its end", () => {
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
});
