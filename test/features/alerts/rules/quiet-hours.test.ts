import { aTarget, defaultOptions, ended, set, timeline } from "./alerts.ts";
import { quietEnd } from "../../../../src/features/alerts/rules/alert-rules.ts";

const at = (hours: number, minutes = 0): number => hours * 60 + minutes;
const overNight = { from: at(22), until: at(7) };
const atNoon = { from: at(12), until: at(13, 30) };
const endOf = (quiet: typeof atNoon | null, moment: string, timezone = "UTC"): string | null => {
  const end = quietEnd(quiet, Date.parse(moment), timezone);
  return end === null ? null : new Date(end).toISOString().slice(0, "2026-11-22T07:00".length);
};

test.each([
  ["2026-11-22T21:59:59.999Z", null],
  ["2026-11-22T22:00:00Z", "2026-11-23T07:00"],
  ["2026-11-22T23:59:59Z", "2026-11-23T07:00"],
  ["2026-11-23T00:00:00Z", "2026-11-23T07:00"],
  ["2026-11-23T06:59:59.999Z", "2026-11-23T07:00"],
  ["2026-11-23T07:00:00Z", null],
])("quiet hours over midnight, at %s, end at %s", (moment, end) => {
  expect(endOf(overNight, moment)).toBe(end);
});

test.each([
  ["2026-11-22T11:59:00Z", null],
  ["2026-11-22T12:00:00Z", "2026-11-22T13:30"],
  ["2026-11-22T13:30:00Z", null],
])("quiet hours of a day, at %s, end at %s", (moment, end) => {
  expect(endOf(atNoon, moment)).toBe(end);
});

test("quiet hours follow the clock of the project", () => {
  expect(endOf(overNight, "2026-11-22T17:00:00Z", "Asia/Kathmandu")).toBe("2026-11-23T01:15");
  expect(endOf(overNight, "2026-11-22T16:00:00Z", "Asia/Kathmandu")).toBeNull();
});

test("quiet hours end at the clock time of their end, also on a night with a clock change", () => {
  expect(endOf(overNight, "2026-03-28T23:00:00Z", "Europe/Berlin")).toBe("2026-03-29T05:00");
  expect(endOf(overNight, "2026-10-24T23:00:00Z", "Europe/Berlin")).toBe("2026-10-25T06:00");
});

test("quiet hours end after the gap when the clock skips their end, and once when it shows it twice", () => {
  const untilHalfPast = { from: at(1), until: at(2, 30) };
  const end = (moment: string): string | null => endOf(untilHalfPast, moment, "Europe/Berlin");
  expect(end("2026-03-29T00:30:00Z")).toBe("2026-03-29T01:30");
  expect(end("2026-10-25T00:15:00Z")).toBe("2026-10-25T00:30");
  expect(end("2026-10-25T01:15:00Z")).toBe("2026-10-25T01:30");
});

test("quiet hours never apply to a target without them", () =>
  expect(endOf(null, "2026-11-22T22:00:00Z")).toBeNull());

const hour = 3_600_000;

test("alerts in a target's quiet hours wait for their end, those to other targets don't", () => {
  const targets = () => [aTarget("ops", { quietHours: overNight }), aTarget("log")];
  const line = timeline({ targets });
  line.at(22 * hour, ended("dev"));
  line.at(31 * hour, ended("web"));
  expect(line.sent()).toEqual([
    `${31 * hour} ops dev runs opened 1`,
    `${22 * hour} log dev runs opened 1`,
    `${31 * hour} ops web runs opened 1`,
    `${31 * hour} log web runs opened 1`,
  ]);
});

test("an alert goes to the current targets of its agent", () => {
  let to: readonly string[] | null = null;
  const targets = () => [aTarget("ops"), aTarget("dev")];
  const line = timeline({ targets, optionsOf: () => ({ ...defaultOptions, to }) });
  line.at(0, ended("dev"));
  to = ["dev"];
  line.at(1, set("dev"), ended("dev", "succeeded"));
  to = [];
  line.at(2, set("dev"), ended("dev"));
  expect(line.sent()).toEqual([
    "0 ops dev runs opened 1",
    "0 dev dev runs opened 1",
    "1 dev dev runs resolved 1",
  ]);
});
