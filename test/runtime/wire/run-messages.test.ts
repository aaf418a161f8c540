import { runMessageSchema } from "../../../src/runtime/wire/run-messages.ts";

const log = { type: "log", level: 30, kind: "said", msg: "hello" };
const cooldown = { type: "cooldown", model: "claude" };
const now = Date.now();

test("a run's message is valid with a time that fits into a Date", () => {
  for (const line of [
    { ...log, time: now },
    { ...cooldown, until: now },
  ])
    expect(runMessageSchema.safeParse(line).success).toBe(true);
});

test.each([
  { ...log, time: -1 },
  { ...log, time: 8.64e15 + 1 },
  { ...cooldown, until: 8.64e15 + 1 },
])("a run's message is invalid with a time that does not fit into a Date: %j", (line) => {
  expect(runMessageSchema.safeParse(line).success).toBe(false);
});
