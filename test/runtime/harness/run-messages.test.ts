import { runMessageSchema } from "../../../src/runtime/harness/run-messages.ts";

const log = { type: "log", level: 30, kind: "said", msg: "hello" };
const isMessage = (value: unknown): boolean => runMessageSchema.safeParse(value).success;

test("a log line's time fits into a Date, or the line is not a message", () => {
  expect(isMessage({ ...log, time: Date.now() })).toBe(true);
  expect([-1, 8.64e15 + 1, 1e300].map((time) => isMessage({ ...log, time }))).toEqual([
    false,
    false,
    false,
  ]);
});

test("the end of a cooldown fits into a Date, or the line is not a message", () => {
  const cooldown = { type: "cooldown", model: "claude" };
  expect(isMessage({ ...cooldown, until: Date.now() })).toBe(true);
  expect(isMessage({ ...cooldown, until: 1e300 })).toBe(false);
});
