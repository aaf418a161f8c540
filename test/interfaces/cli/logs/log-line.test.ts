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
const shown = (more: object) => formatLog({ ...entry, ...more }, style);

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index}`);
const output = numbered(0, 12).join("\n");
const usage = { kind: "usage", msg: "1204 tokens" };
const result = { kind: "tool-result", msg: "bash done" };
const live: LogEntry = { ...entry, kind: "tool-output", call: "1", msg: "bash still running" };

test.each<[string, object, readonly string[]]>([
  ["time, level and text", {}, ["INFO  text"]],
  ["an unknown level as its number", { level: 35 }, [" 35    text".trimStart()]],
  ["no control sequences", { msg: "evil \u001b]0;x\u0007 \u009b31mtext" }, ["INFO  evil  text"]],
  ["the cost of a turn", { ...usage, costUsd: 0.00213 }, ["INFO  1204 tokens ($0.0021)"]],
  ["no cost of a free turn", { ...usage, costUsd: 0 }, ["INFO  1204 tokens"]],
  [
    "the run that made a call",
    { kind: "run", trigger: { kind: "agent-call", callerInstance: "ops-abcdefgh" } },
    ["INFO  text from ops-abcdefgh"],
  ],
  [
    "the start of a tool's output",
    { ...result, output },
    ["INFO  bash done", ...numbered(0, 10), "… 2 more lines"],
  ],
  [
    "a tool's output without colours and overwritten lines",
    { ...result, output: "\u001b[32mPASS\u001b[0m a.test.ts\nCloning: 10%\rCloning: 100%\r\n" },
    ["INFO  bash done", "PASS a.test.ts", "Cloning: 100%"],
  ],
  [
    "the end of a failed tool's output",
    { ...result, isError: true, output: `${output}\nfatal: it broke\n\n\nexited with code 3` },
    [
      "INFO  bash done",
      "… 4 lines before",
      ...numbered(4, 12),
      "fatal: it broke",
      "exited with code 3",
    ],
  ],
  [
    "the end of a running call's output, and how long it has run",
    { ...live, durationMs: 12_400, output: `${output}\n` },
    ["INFO  bash still running (12 s)", "… 2 lines before", ...numbered(2, 12)],
  ],
  [
    "a running call without output",
    { ...live, durationMs: 12_400 },
    ["INFO  bash still running (12 s)"],
  ],
])("a log line shows %s", (_what, more, lines) =>
  expect(
    shown(more)
      .replace(/^09:04:05 /, "")
      .trimStart()
      .split(/\n {4}/),
  ).toEqual(lines),
);

test("a log line shows its agent if lines of several agents are printed", () =>
  expect(formatLog(entry, { ...style, showAgent: true })).toBe("09:04:05 INFO  dev text"));

const next: LogEntry = { ...live, output: "b\nc\n" };

test("further output of a tool call is printed without repeating the heading", () =>
  expect(formatMore(next, style)).toBe("    b\n    c"));

test("further output of a tool call continues the previous log line", () =>
  expect(isContinued(next, live)).toBe(true));

test.each<[string, LogEntry, LogEntry | null]>([
  ["the first line of a log", next, null],
  ["output after the call's own line", next, { ...entry, kind: "tool", call: "1" }],
  // The line has a new time.
  ["a line without output", live, live],
  ["output of another call", { ...next, call: "2" }, live],
  ["output of another run", { ...next, instanceId: "other-aaaaaaaa" }, live],
])("%s does not continue the previous log line", (_what, one, before) =>
  expect(isContinued(one, before)).toBe(false),
);
