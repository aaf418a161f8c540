import pc from "picocolors";
import {
  formatLog,
  formatMore,
  isContinued,
} from "../../../../src/interfaces/cli/logs/log-line.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";

const now = new Date(2026, 0, 5, 9, 4, 5).getTime();
const style = { colors: pc.createColors(false), showAgent: false, now };
const entry: LogEntry = { level: 30, time: now, msg: "text", agent: "dev" };

test("a line has time, level and text, and the agent if lines are mixed", () => {
  expect(formatLog(entry, style)).toBe("09:04:05 INFO  text");
  expect(formatLog(entry, { ...style, showAgent: true })).toBe("09:04:05 INFO  dev text");
});

test("a tool's output follows its line, shortened", () => {
  const output = Array.from({ length: 12 }, (_, index) => `line ${index}`).join("\n");
  const lines = formatLog({ ...entry, kind: "tool-result", msg: "bash done", output }, style);
  expect(lines.split("\n")).toHaveLength(12);
  expect(lines).toMatch(/^09:04:05 INFO {2}bash done\n {4}line 0\n[^]*\n {4}… 2 more lines$/);
});

test("a failed tool call shows the end of its output, with the error and the exit code", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const output = [...lines, "fatal: it broke", "", "", "Command exited with code 3"].join("\n");
  const failed = { ...entry, kind: "tool-result", msg: "bash failed", output, isError: true };
  const shown = formatLog(failed, style).split("\n");
  expect(shown).toHaveLength(12);
  expect(shown[1]).toBe("    … 22 lines before");
  expect(shown.slice(-3)).toEqual(
    ["line 29", "fatal: it broke", "Command exited with code 3"].map((line) => `    ${line}`),
  );
});

test("an unknown level is shown as its number", () =>
  expect(formatLog({ ...entry, level: 35 as 30 }, style)).toContain(" 35    text"));

test("the colours and the overwritten lines of a tool's output are not shown", () => {
  const output = "\u001b[32mPASS\u001b[0m a.test.ts\nCloning: 10%\rCloning: 100%\r\n";
  const shown = formatLog({ ...entry, kind: "tool-result", msg: "bash done", output }, style);
  expect(shown.split("\n").slice(1)).toEqual(["    PASS a.test.ts", "    Cloning: 100%"]);
});

test("a line of a turn, and of the end of a run, has its cost", () => {
  const usage = { ...entry, kind: "usage", msg: "1204 tokens", costUsd: 0.00213 };
  expect(formatLog(usage, style)).toBe("09:04:05 INFO  1204 tokens ($0.0021)");
  expect(formatLog({ ...usage, costUsd: 0 }, style)).toBe("09:04:05 INFO  1204 tokens");
});

test("a line about a call names the run that made it", () => {
  const trigger = { kind: "agent-call", callerInstance: "ops-abcdefgh" };
  const started = { ...entry, kind: "run", msg: "run started by a call", trigger };
  expect(formatLog(started, style)).toBe("09:04:05 INFO  run started by a call from ops-abcdefgh");
});

test("a running call shows its last lines, and how long it has run", () => {
  const output = Array.from({ length: 12 }, (_, index) => `line ${index}\n`).join("");
  const live = { ...entry, kind: "tool-output", msg: "bash still running", durationMs: 12_400 };
  const shown = formatLog({ ...live, output }, style).split("\n");
  expect(shown[0]).toBe("09:04:05 INFO  bash still running (12 s)");
  expect(shown.slice(1, 3)).toEqual(["    … 2 lines before", "    line 2"]);
  expect(formatLog(live, style)).toBe("09:04:05 INFO  bash still running (12 s)");
});

test("further output of the same call is printed without a second heading", () => {
  const live = {
    ...entry,
    kind: "tool-output",
    call: "1",
    msg: "bash still running",
    output: "a\n",
  };
  const next = { ...live, output: "b\nc\n" };
  expect(isContinued(live, null)).toBe(false);
  expect(isContinued(live, { ...entry, kind: "tool", call: "1" })).toBe(false);
  expect(isContinued(next, live)).toBe(true);
  expect(formatMore(next, style)).toBe("    b\n    c");
  // Without output the time is what is new; between two calls and two runs it is named which one it is.
  expect(isContinued({ ...live, output: "" }, live)).toBe(false);
  expect(isContinued({ ...next, call: "2" }, live)).toBe(false);
  expect(isContinued({ ...next, instanceId: "other-aaaaaaaa" }, live)).toBe(false);
});
