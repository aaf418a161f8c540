import { alertText } from "../../../../src/features/alerts/rules/alert-text.ts";
import type { Alert } from "../../../../src/features/alerts/rules/alert.ts";
import { anAlert } from "./alerts.ts";

const hourMs = 3_600_000;
const utc = { timezone: "UTC" };
const linesOf = (alert: Alert, timezone = "UTC") =>
  alertText(alert, { timezone }).lines.map(({ label, text }) => `${label}: ${text}`);

/** One without run. */
const plain = { outcome: null, instanceId: null, costUsd: null } as const;

test("the text of an alert names the failure, the reason, the start and the cost", () => {
  const { title, severity } = alertText(anAlert(), utc);
  expect({ title, severity }).toEqual({ title: "dev failed", severity: "error" });
  expect(linesOf(anAlert())).toEqual([
    "Why: exited with code 1",
    "At: 2026-11-22 14:05 UTC",
    "Run: dev-abcdefgh",
    "Cost: $0.12",
    "Next: al logs dev",
  ]);
});

test("the text of an alert shows times in the project's time zone, and the duration", () => {
  const { at } = anAlert();
  const alert = anAlert({ ...plain, phase: "reminder", since: at - 26 * hourMs, count: 9 });
  expect(linesOf(alert, "Asia/Kathmandu")).toEqual([
    "Why: exited with code 1",
    "Since: 2026-11-21 17:50 Asia/Kathmandu (26 h)",
    "Failures: 9 in a row",
    "Next: al logs dev",
  ]);
});

test("the text of a resolved alert shows how long the failure lasted", () => {
  const { at } = anAlert();
  const alert = anAlert({ ...plain, phase: "resolved", since: at - 90 * hourMs, count: 4 });
  expect(alertText(alert, utc)).toMatchObject({ title: "dev recovered", severity: "ok" });
  expect(linesOf(alert)).toEqual([
    "Was: exited with code 1",
    "Lasted: 3 days, since 2026-11-18 20:05 UTC",
    "Failures: 4 in a row",
  ]);
});

test("the text of a digest of alerts shows counts and known agents, but no cause", () => {
  const digest = { ...plain, topic: "digest", agent: null, reason: "failed runs: 3 new" } as const;
  const agents = Array.from({ length: 10 }, (_, index) => `a${index}`);
  expect(linesOf(anAlert({ ...digest, count: 11, agents })).slice(0, 2)).toEqual([
    "What: failed runs: 3 new",
    "Agents: a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 and others",
  ]);
  expect(linesOf(anAlert({ ...digest, count: 3, agents: ["a", "b"] }))[1]).toBe("Agents: a, b");
});

test("the text about a scheduler that was down shows for how long", () => {
  const { at } = anAlert();
  const down = { ...plain, topic: "scheduler_down", agent: null, reason: null } as const;
  expect(linesOf(anAlert({ ...down, since: at - 2 * hourMs }))).toEqual([
    "Lasted: 2 h, since 2026-11-22 12:05 UTC",
  ]);
  expect(linesOf(anAlert({ ...down, since: at - hourMs, count: 4 }))).toEqual([
    "Since: 2026-11-22 13:05 UTC (1 h)",
  ]);
});

test.each<[Partial<Alert>, string, string?]>([
  [{ outcome: "timed_out" }, "dev timed out"],
  [{ topic: "config", agent: null }, "The config of the project is invalid"],
  [{ topic: "config", phase: "resolved" }, "The config of dev is valid again", "ok"],
  [{ topic: "missed_ticks", count: 3 }, "dev missed its schedule 3 times", "warning"],
  [{ topic: "dead_letters" }, "Work for dev became a dead letter"],
  [{ topic: "dead_letters", count: 7 }, "7 items of work for dev became dead letters"],
  [{ topic: "budget", count: 80 }, "dev spent 80 % of its budget", "warning"],
  [{ topic: "budget", count: 100 }, "The budget of dev can't pay the next call"],
  [
    { topic: "budget", agent: null, count: 100 },
    "The budget of the project can't pay the next call",
  ],
  [{ topic: "scheduler_down", since: 0, at: 7_300_000 }, "The scheduler was down for 2 h"],
  [{ topic: "scheduler_down", count: 4 }, "The scheduler was down 4 times"],
  [{ topic: "no_success", since: 0, at: 48 * hourMs }, "dev had no success for 48 h"],
  [{ topic: "digest", agent: null, count: 2, agents: ["a", "b"] }, "2 alerts: a, b"],
  [
    { topic: "digest", phase: "resolved", count: 9, agents: ["a", "b", "c", "d"] },
    "9 alerts are resolved: a, b, c and others",
    "ok",
  ],
  [{ topic: "test", agent: null }, "Test alert", "ok"],
])("the title of an alert with the fields %j is: %s", (more, title, severity = "error") => {
  expect(alertText(anAlert(more), utc)).toMatchObject({ title, severity });
});

test.each<[string, Partial<Alert>, string?]>([
  ["dead letters", { topic: "dead_letters" }, "al history --dead-letter --agent dev"],
  ["a config of the project", { topic: "config", agent: null }, "al doctor"],
  ["a budget that is used up", { topic: "budget", count: 100 }, "al budget raise dev <usd>"],
  ["a budget that is not used up", { topic: "budget", count: 80 }],
])("the alert about %s names the next command, if there is one", (_what, more, command) => {
  const { lines } = alertText(anAlert({ ...plain, ...more }), utc);
  expect(lines.find(({ label }) => label === "Next")?.text).toBe(command);
});
