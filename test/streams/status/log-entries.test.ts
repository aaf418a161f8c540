import { logEntriesOf } from "../../../streams/status/log-entries.ts";
import type { RunEvent, Trigger, WebhookEvent } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { aProblem, eventsOf } from "./events.ts";

const dev = eventsOf("dev", 2500);

const lines = (event: RunEvent): string[] =>
  logEntriesOf(event).map(({ level, msg }) => `${level} ${msg}`);

const webhook: WebhookEvent = {
  source: "hub",
  type: "github",
  event: "issues",
  action: "opened",
  repo: "almanac/almanac",
  number: 1,
  title: null,
  body: null,
  url: null,
  author: null,
  labels: [],
  sender: null,
  branch: null,
  conclusion: null,
  timestamp: "2026-05-04T09:00:00.000Z",
  receiptId: "r1",
};

test("the log lines of an event are a run's own words unchanged", () => {
  const event = dev.output("hello");
  expect(logEntriesOf(event)).toEqual([
    { level: 30, time: 2500, msg: "hello", kind: "said", agent: "dev", instanceId: "dev-1" },
  ]);
});

test("the log lines of an event have the time and the agent", () =>
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
  ["its end", dev.buildFinished(), []],
  ["its failure", dev.buildFinished("no base image"), ["50 no base image"]],
  ["waiting", dev.queued(), ["30 queued manually"]],
  ["a refusal", dev.refused("dropped", "queue_full"), ["40 dropped: queue_full"]],
  ["a start", dev.started(), ["30 run started manually"]],
  ["a success", dev.finished(), ["30 run succeeded after 2.5 s"]],
  ["a failure", dev.finished("failed", "no key"), ["50 run failed after 2.5 s: no key"]],
  ["a timeout", dev.finished("timed_out", "too long"), ["50 run timed out after 2.5 s: too long"]],
  ["a long run", { ...dev.finished(), at: 854_800 }, ["30 run succeeded after 14 min"]],
  ["a kill", dev.finished("killed"), ["40 run killed after 2.5 s"]],
  ["a next run", dev.nextRun(1), []],
  ["a depth", dev.depth(1), []],
  ["a status text", dev.statusText("reading"), []],
])("the log lines of an event have level and text for %s", (_what, event, expected) => {
  expect(lines(event)).toEqual(expected);
});

test("the log lines of an event are one line for each problem, with its place", () => {
  const unknown = aProblem({ severity: "warning", line: null, column: null, message: "unknown" });
  expect(lines(dev.invalid(aProblem(), aProblem({ line: 7, column: null })))).toEqual([
    "50 agents/dev/config.toml:4:12  scale is not a number",
    "50 agents/dev/config.toml:7  scale is not a number",
  ]);
  const set: RunEvent = { ...dev.set(), warnings: [unknown] } as RunEvent;
  expect(lines(set)).toEqual(["30 loaded", "40 agents/dev/config.toml  unknown"]);
});

test("the log lines of an event name the trigger of a run", () => {
  const asked = { callId: "c1", callerInstance: "ops-1", depth: 1, context: "" };
  const call = { ...asked, root: "r1", cancelOnExit: false };
  const names: [Trigger, string][] = [
    [{ kind: "cron", scheduledFor: 0 }, "by its schedule"],
    [{ kind: "cron", scheduledFor: 0, rerun: 1, slotsInUse: 2 }, "by its rerun request"],
    [
      { kind: "cron", scheduledFor: 0, slotsInUse: 2 },
      "by its schedule, 2.5 s late: all 2 slots of the project were in use",
    ],
    [{ kind: "webhook", event: webhook }, "by github webhook issues"],
    [{ kind: "manual", prompt: null }, "manually"],
    [{ kind: "agent-call", caller: "ops", ...call }, "by a call"],
  ];
  for (const [trigger, name] of names) {
    const started = dev.started("dev-1", anItem("1", "dev", trigger));
    expect(lines(started)).toEqual([`30 run started ${name}`]);
  }
});

test("the log lines of an event have the caller as a field, and in no text", () => {
  const call = { callId: "c1", caller: "ops", callerInstance: "ops-1", depth: 1, context: "" };
  const item = anItem("1", "dev", { kind: "agent-call", ...call, root: "r1", cancelOnExit: false });
  for (const type of ["queued", "taken"] as const) {
    const [entry] = logEntriesOf({ ...dev.queued(), type, item });
    expect(entry).toMatchObject({ trigger: { callerInstance: "ops-1" } });
    expect(entry?.msg).not.toContain("ops");
  }
});

test("the log lines of an event mark a run's start and end as such, with its numbers", () => {
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

test("the log lines of an event describe the trigger at a run's start, and the usage at its end", () => {
  const prompt = "p".repeat(501);
  const triggers: [Trigger, object][] = [
    [{ kind: "cron", scheduledFor: 0 }, { scheduledFor: "1970-01-01T00:00:00.000Z" }],
    [
      { kind: "webhook", event: webhook },
      { action: "opened", number: 1, receiptId: "r1" },
    ],
    [{ kind: "manual", prompt }, { prompt }],
  ];
  for (const [trigger, facts] of triggers) {
    const [entry] = logEntriesOf(dev.started("dev-1", anItem("1", "dev", trigger)));
    expect(entry).toMatchObject({ trigger: { kind: trigger.kind, ...facts } });
  }
  const used = { model: "haiku", tokens: 12, costUsd: 0.1, turns: 2 };
  const event = dev.finished() as Extract<RunEvent, { type: "finished" }>;
  const [end] = logEntriesOf({ ...event, end: { ...event.end, usage: used } });
  expect(end).toMatchObject(used);
});
