import { leftOutTexts, upcomingRuns } from "../../../src/foundation/config/upcoming-runs.ts";
import { agent, project, usualProject } from "./samples.ts";

const projectText = `${usualProject}
[calendars.xmas]
dates = ["2026-12-25", "2026-12-26"]
`;
const { calendars } = project(projectText);
const text = `models = ["main"]
credentials = []
timezone = "UTC"
schedule = "0 12 * * *"
[[schedules]]
name = "early"
cron = "0 */3 * * *"
calendar = { skip = ["xmas"] }
`;
const config = agent(text, { projectText });
const now = Date.parse("2026-12-24T20:30:00Z");

const lines = (rows: ReturnType<typeof upcomingRuns>): string[] =>
  rows.map(({ schedule, at, leftOut }) => {
    const left = leftOut === null ? "" : ` ${leftOut.count} until ${leftOut.until.slice(5, 16)}`;
    return `${schedule} ${at.slice(5, 16)}${left}`.trim();
  });

test("the next ten runs of an agent are those of all its schedules in order, and name the times that a calendar leaves out", () => {
  const rows = upcomingRuns(config, { calendars, now });
  expect(rows.filter(({ leftOut }) => leftOut === null)).toHaveLength(10);
  expect(lines(rows)).toEqual([
    "early 12-24T21:00",
    "early 12-25T00:00 8 until 12-26T00:00",
    "12-25T12:00",
    "early 12-26T00:00 8 until 12-27T00:00",
    "12-26T12:00",
    "early 12-27T00:00",
    "early 12-27T03:00",
    "early 12-27T06:00",
    "early 12-27T09:00",
    "12-27T12:00",
    "early 12-27T12:00",
    "early 12-27T15:00",
  ]);
});

test("the next runs of some days end with them", () => {
  expect(lines(upcomingRuns(config, { calendars, now, days: 1 }))).toEqual([
    "early 12-24T21:00",
    "early 12-25T00:00 7 until 12-25T20:30",
    "12-25T12:00",
  ]);
  const often = agent('models = ["main"]\ncredentials = []\nschedule = "* * * * *"\n');
  expect(upcomingRuns(often, { calendars, now, days: 30 })).toHaveLength(200);
});

test("the next run of an agent is that of the schedule that is due first", () => {
  expect(lines(upcomingRuns(config, { calendars, now, most: 1 }))).toEqual(["early 12-24T21:00"]);
});

test("why an agent did not run names the calendar that left out its runs, before and after", () => {
  const after = Date.parse("2026-12-26T01:00:00Z");
  const said = leftOutTexts(config, calendars, now, after);
  expect(said).toHaveLength(2);
  expect(said[0]).toMatch(
    /^Schedule early: 8 scheduled runs from .*25.* to .*26.* left out by calendar xmas: 2026-12-25\.$/,
  );
  expect(said[1]).toMatch(
    /^Schedule early: 7 scheduled runs from .*26.* to .*27.* left out by calendar xmas: 2026-12-26\.$/,
  );
  expect(leftOutTexts(config, calendars, now - 3_600_000, now)).toEqual([]);
});
