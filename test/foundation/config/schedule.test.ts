import { fiveFields, scheduleProblem } from "../../../src/foundation/config/schedule.ts";

test.each(["0 0 29 2 *", " 0  9 * * * ", "0 0 L * *", " @daily "])(
  "scheduleProblem accepts %j",
  (schedule) => expect(scheduleProblem(schedule)).toBeNull(),
);

test.each(["", "* * * *", "0 0 9 * * *", "H 9 * * *", "5-1 * * * *"])(
  "scheduleProblem refuses %j",
  (schedule) =>
    expect(scheduleProblem(schedule)).toMatch(/is not a cron expression.*use five fields/),
);

test.each(["0 0 30 2 *", "0 0 31 4,6 *"])(
  "scheduleProblem refuses %s, which never comes due",
  (schedule) => expect(scheduleProblem(schedule)).toMatch(/never comes due/),
);

test("scheduleProblem lists the known short names, such as @daily", () => {
  expect(scheduleProblem("@dayly")).toBe(
    'schedule "@dayly" is not a cron expression; did you mean "@daily"?',
  );
  expect(scheduleProblem("@reboot")).toMatch(
    /not a cron expression; known are "@hourly", "@daily",/,
  );
  // The parser would take them.
  expect(scheduleProblem("@minutely")).toMatch(/not a cron expression/);
  expect(scheduleProblem("@hourly @daily")).toMatch(/not a cron expression/);
});

test.each([
  ["@hourly", "0 * * * *"],
  ["@daily", "0 0 * * *"],
  ["@weekly", "0 0 * * 0"],
  ["@monthly", "0 0 1 * *"],
  ["@yearly", "0 0 1 1 *"],
  [" 0  9\t* * * ", "0 9 * * *"],
])("fiveFields of %j is %j", (schedule, fields) => expect(fiveFields(schedule)).toBe(fields));
