import { scheduleText } from "../../../src/foundation/config/schedule-text.ts";

test.each([
  ["* * * * *", "Every minute"],
  ["30 8 * * 1-5", "At 08:30, Monday through Friday"],
  ["0 9 1 1 *", "At 09:00, on day 1 of the month, only in January"],
  ["nonsense", null],
  [null, null],
])("the schedule %s is shown as %s", (expression, words) =>
  expect(scheduleText(expression)).toBe(words),
);
