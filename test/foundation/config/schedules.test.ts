import { schedulesOf } from "../../../streams/agent-config.ts";
import { agentFacts } from "../../../src/foundation/config/agent-view.ts";
import { writtenKeys } from "../../../src/foundation/config/key-table.ts";
import { agentKeys } from "../../../src/foundation/config/agent-keys.ts";
import { scheduleText } from "../../../src/foundation/config/schedule-text.ts";
import { agent, agentChange, refusal, said, usualAgent, usualProject } from "./samples.ts";

const projectText = `${usualProject}
[calendars.holidays]
dates = ["2026-12-25"]
[calendars.office]
windows = ["Mon 09:00-Fri 17:00"]
`;

const entries = `${usualAgent}timezone = "Asia/Tokyo"
params = { days = 1, team = "a" }
[[schedules]]
cron = "@hourly"
[[schedules]]
name = "weekly"
cron = "0  6 * * Mon"
timezone = "Europe/London"
prompt = "Report the week."
params = { days = 7 }
calendar = { skip = ["holidays"], only = ["office"] }
`;

const weekly = {
  name: "weekly",
  expression: "0 6 * * Mon",
  timezone: "Europe/London",
  prompt: "Report the week.",
  params: { days: 7 },
  calendar: { skip: ["holidays"], only: ["office"] },
};
const first = {
  name: "1",
  expression: "0 * * * *",
  timezone: "Asia/Tokyo",
  prompt: null,
  params: {},
  calendar: null,
};

test("the schedules of an agent are the short one, then its entries with their defaults", () => {
  const config = agent(entries, { projectText });
  expect(config.schedules).toEqual([first, weekly]);
  const short = { ...first, name: "", expression: "0 9 * * *" };
  expect(schedulesOf(config)).toEqual([short, first, weekly]);
});

test("the schedules of an agent are written as the file holds them", () => {
  const { schedules } = writtenKeys(agentKeys, agent(entries, { projectText }), "/p") as {
    schedules: object[];
  };
  const { expression: cron, ...rest } = weekly;
  expect(schedules[1]).toEqual({ cron, ...rest });
  expect(schedules[0]).toEqual({
    name: "1",
    cron: "0 * * * *",
    timezone: "Asia/Tokyo",
    params: {},
  });
});

test("the facts of an agent describe each of its schedules, with the calendars", () => {
  const facts = agentFacts(agent(entries, { projectText }), scheduleText);
  expect(facts.filter(({ label }) => label.startsWith("Schedule"))).toEqual([
    { label: "Schedule", values: ["0 9 * * *", "At 09:00", "time zone Asia/Tokyo"] },
    { label: "Schedule 1", values: ["0 * * * *", "Every hour", "time zone Asia/Tokyo"] },
    {
      label: "Schedule weekly",
      values: [
        "0 6 * * Mon",
        "At 06:00, only on Monday",
        "time zone Europe/London",
        "skip holidays",
        "only office",
      ],
    },
  ]);
});

test("an agent with an entry of schedules needs no other trigger", () => {
  const text = 'models = ["main"]\ncredentials = []\n[[schedules]]\ncron = "0 9 * * *"\n';
  expect(said(agentChange(text))).toEqual([]);
});

const entry = (text: string): string => `${usualAgent}[[schedules]]\n${text}\n`;

test.each([
  [entry('cron = "every day"'), '5:8  schedule "every day" is not a cron expression'],
  [
    entry('cron = "*/61 * * * *"'),
    "/61 steps over all 60 minutes of an hour; use a step of at most 60",
  ],
  [entry('cron = "0 0 */32 * *"'), "/32 steps over all 31 days of a month"],
  [entry('cron = "0 5-20/25 * * *"'), "/25 steps over all 24 hours of a day"],
  [
    entry('cron = "0 9 * * *"\ntimezone = "Mars"'),
    'schedules[0].timezone is "Mars"; expected an IANA',
  ],
  [entry('cron = "0 9 * * *"\nname = "Über"'), 'schedules[0].name is "Über"; expected up to 32'],
  [
    entry('cron = "0 9 * * *"\nname = "2"\n[[schedules]]\ncron = "0 8 * * *"'),
    'schedules[1] has the name of another, "2"',
  ],
  [
    entry('cron = "0 9 * * *"\ncalendar = { skip = ["holiday"] }'),
    'agents/dev/config.toml:6:22  "holiday" is not a calendar of the project; did you mean "holidays"?',
  ],
  [
    entry('cron = "0 9 * * *"\ncalendar = { skip = "holidays" }'),
    'calendar.skip is "holidays"; expected a list of calendars',
  ],
  [entry('name = "a"'), "schedules[0].cron is missing; expected a cron expression"],
])("an agent with the entry %j is refused", (text, message) => {
  expect(refusal(agentChange(text, { projectText }))).toContain(message);
});

test("a calendar that the project does not have is refused, with the table to add", () => {
  const text = entry('cron = "0 9 * * *"\ncalendar = { only = ["office"] }');
  expect(refusal(agentChange(text))).toContain(
    '"office" is not a calendar of the project; add [calendars.<name>] to the project\'s config.toml',
  );
});

test.each([
  ['schedule = "0 0 */2 * Mon"', true],
  ['schedule = "0 0 1 * */2"', true],
  ['schedule = "0 0 */2 * *"', false],
  ['schedule = "0 0 1 * Mon"', false],
  ['schedule = "0 0 */1 * Mon"', false],
])(
  "an agent with %s is warned of days that other crons read differently: %s",
  (schedule, isWarned) => {
    const text = `models = ["main"]\ncredentials = []\n${schedule}\n`;
    const warnings = said(agentChange(text));
    expect(warnings).toEqual(
      isWarned ? [expect.stringMatching(/^warning: .*cron of most systems requires both/)] : [],
    );
  },
);

test.each([
  ['callable = true\ncatchUp = "latest"', true],
  ['schedule = "0 9 * * *"\ncatchUp = "latest"', false],
  ['catchUp = "latest"\n[[schedules]]\ncron = "0 9 * * *"', false],
])("an agent with %j is warned that catchUp has no effect: %s", (keys, isWarned) => {
  const warnings = said(agentChange(`models = ["main"]\ncredentials = []\n${keys}\n`));
  const warning =
    /catchUp is "latest", which has no effect on an agent without a schedule; remove it/;
  expect(warnings).toEqual(isWarned ? [expect.stringMatching(warning)] : []);
});
