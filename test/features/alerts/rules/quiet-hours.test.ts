import { aTarget, defaultOptions, ended, set, timeline } from "./alerts.ts";
import { quietEnd } from "../../../../src/features/alerts/rules/alert-rules.ts";

const at = (hours: number, minutes = 0) => hours * 60 + minutes;
const overNight = { from: at(22), until: at(7) };
const atNoon = { from: at(12), until: at(13, 30) };
const atGap = { from: at(1), until: at(2, 30) };

test.each<[string, typeof atNoon | null, string, string | null, string?]>([
  ["null before hours over midnight", overNight, "2026-11-22T21:59:59.999Z", null],
  [
    "the next morning from the start of hours over midnight",
    overNight,
    "2026-11-22T22:00:00Z",
    "2026-11-23T07:00",
  ],
  ["the same morning until the last ms", overNight, "2026-11-23T06:59:59.999Z", "2026-11-23T07:00"],
  ["null from the end of hours over midnight", overNight, "2026-11-23T07:00:00Z", null],
  [
    "the same day from the start of hours within a day",
    atNoon,
    "2026-11-22T12:00:00Z",
    "2026-11-22T13:30",
  ],
  [
    "the end in the project's time zone",
    overNight,
    "2026-11-22T17:00:00Z",
    "2026-11-23T01:15",
    "Asia/Kathmandu",
  ],
  [
    "the local end of a shorter night",
    overNight,
    "2026-03-28T23:00:00Z",
    "2026-03-29T05:00",
    "Europe/Berlin",
  ],
  [
    "the next moment if the clock skips the end",
    atGap,
    "2026-03-29T00:30:00Z",
    "2026-03-29T01:30",
    "Europe/Berlin",
  ],
  [
    "the first of two ends of quiet hours when the clock is set back",
    atGap,
    "2026-10-25T00:15:00Z",
    "2026-10-25T00:30",
    "Europe/Berlin",
  ],
  [
    "the second of two ends of quiet hours when the first one is over",
    atGap,
    "2026-10-25T01:15:00Z",
    "2026-10-25T01:30",
    "Europe/Berlin",
  ],
  ["null for a target without quiet hours", null, "2026-11-22T22:00:00Z", null],
])("the end of a target's quiet hours is %s", (_, quiet, moment, end, timezone = "UTC") => {
  const ends = quietEnd(quiet, Date.parse(moment), timezone);
  expect(ends).toBe(end && Date.parse(`${end}Z`));
});

const hour = 3_600_000;

test("alerts to a target in quiet hours wait until those hours end; alerts to other targets are not delayed", () => {
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

test("an alert is sent to the targets that the agent has now", () => {
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
