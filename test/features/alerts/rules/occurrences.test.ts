import type { Outcome } from "../../../../streams/outcomes.ts";
import type { AlertCommand } from "../../../../src/features/alerts/rules/alert-rules.ts";
import type { Trigger } from "../../../../streams/vocabulary.ts";
import { callItem } from "../../../foundation/store/support.ts";
import { anItem } from "../../../helpers/agents.ts";
import { eventsOf } from "../../../streams/status/events.ts";
import { runEvent, set, timeline } from "./alerts.ts";

const [minute, hour] = [60_000, 3_600_000];
const dev = eventsOf("dev");
const dropped = runEvent(dev.refused("dropped", "queue_full"));
const cron: Trigger = { kind: "cron", scheduledFor: 0 };

const missed = { type: "missed", agent: "dev", at: 0, items: [], reason: "no scheduler" } as const;

function endOf(trigger: Trigger, outcome: Outcome, attempt = 1): AlertCommand {
  const event = dev.finished(outcome, "why");
  if (event.type !== "finished") throw new Error("no end");
  return runEvent({ ...event, item: { ...anItem("1", "dev", trigger), attempt } });
}

test("dropped work is alerted at once, and then once an hour with the number of dropped items", () => {
  const line = timeline();
  line.at(0, set("dev"));
  for (const time of [0, 1, minute, hour - 1, hour + minute]) line.at(time, dropped);
  line.at(9 * hour);
  expect(line.sent()).toEqual([
    "0 ops dev dead_letters opened 1",
    `${hour} ops dev dead_letters opened 3`,
    `${2 * hour} ops dev dead_letters opened 1`,
  ]);
  expect([...line.deliveries.values()].map(({ alert }) => alert.since)).toEqual([
    0,
    0,
    hour + minute,
  ]);
  expect(line.states()).toEqual([]);
});

test("an alert about the scheduler's only downtime within an hour shows when that downtime was", () => {
  const line = timeline();
  const downFor = (minutes: number): AlertCommand => ({
    type: "scheduler-down",
    crashed: true,
    downMs: minutes * minute,
  });
  line.at(hour, downFor(10));
  line.at(hour + 30 * minute, downFor(3));
  line.at(3 * hour);
  const down = { topic: "scheduler_down", agent: null };
  expect([...line.deliveries.values()]).toMatchObject([
    { alert: { ...down, since: 50 * minute, reason: "it ended without being stopped" } },
    { alert: { ...down, since: hour + 27 * minute } },
  ]);
});

test.each<[string, AlertCommand, string]>([
  ["a tick that was missed", runEvent(missed), "missed_ticks"],
  ["work that was dropped", dropped, "dead_letters"],
  ["work that was rejected", runEvent(dev.refused("rejected")), "dead_letters"],
  ["work that can't be run", endOf({ kind: "manual", prompt: null }, "rejected"), "dead_letters"],
  ["work that was interrupted twice", endOf(cron, "interrupted", 2), "dead_letters"],
  ["a tick that can't be run", endOf(cron, "rejected"), "runs"],
])("%s is alerted at once", (_, command, topic) => {
  const line = timeline();
  line.at(0, command);
  expect(line.sent()).toEqual([`0 ops dev ${topic} opened 1`]);
});

test.each([
  ["is not alerted if it ends with its caller", true, []],
  ["is alerted if it outlives its caller", false, ["0 ops dev dead_letters opened 1"]],
])("a refused agent call %s", (_, cancelOnExit, sent) => {
  const line = timeline();
  const item = callItem("1", { cancelOnExit });
  const refused = { type: "refused", agent: "dev", at: 0, outcome: "rejected" } as const;
  line.at(0, runEvent({ ...refused, item, reason: "why" }));
  expect(line.sent()).toEqual(sent);
});

const passed = (percent: number, more = {}): AlertCommand => {
  const spent = { agent: "dev", window: "2026-11-22", usd: percent / 20, limitUsd: 5 };
  return { type: "budget", percent, ...spent, ...more };
};

test("each percentage of a budget is alerted once per window and limit", () => {
  const line = timeline();
  line.at(0, passed(50), passed(80), passed(80), passed(50), passed(100), passed(100));
  line.at(hour, passed(100, { limitUsd: 10 }), passed(50, { window: "2026-11-23" }));
  line.at(2 * hour, passed(50, { window: "2026-11" }), passed(50, { agent: null }));
  expect(line.sent()).toEqual([
    "0 ops dev budget opened 50",
    "0 ops dev budget opened 80",
    "0 ops dev budget opened 100",
    `${hour} ops dev budget opened 100`,
    `${hour} ops dev budget opened 50`,
    `${2 * hour} ops dev budget opened 50`,
    `${2 * hour} ops project budget opened 50`,
  ]);
  const [first] = line.deliveries.values();
  expect(first?.alert.reason).toBe("$2.50 of $5.00 for 2026-11-22 is spent");
});

test("a budget that is used up is not alerted again after a restart", () => {
  const first = timeline();
  first.at(0, passed(100));
  const second = timeline({ states: first.states() });
  second.at(1, passed(100), passed(80));
  expect(second.sent()).toEqual([]);
});
