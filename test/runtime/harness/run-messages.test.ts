import { runMessageSchema } from "../../../src/runtime/harness/run-messages.ts";

const log = { type: "log", level: 30, kind: "said", msg: "hello" };
const cooldown = { type: "cooldown", model: "claude" };
const now = Date.now();

test.each([
  [{ ...log, time: now }, true],
  [{ ...log, time: -1 }, false],
  [{ ...log, time: 8.64e15 + 1 }, false],
  [{ ...cooldown, until: now }, true],
  [{ ...cooldown, until: 8.64e15 + 1 }, false],
])("a line of a run is a message only if its time fits into a Date: %j", (line, isMessage) => {
  expect(runMessageSchema.safeParse(line).success).toBe(isMessage);
});
