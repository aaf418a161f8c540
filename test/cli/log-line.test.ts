import pc from "picocolors";
import { expect, test } from "vitest";
import { formatLog } from "../../src/cli/log-line.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";

const now = new Date(2026, 0, 5, 9, 4, 5).getTime();
const style = { colors: pc.createColors(false), showAgent: false, now };
const entry: LogEntry = { level: 30, time: now, msg: "text", agent: "dev" };

test("a line has time, level and text, and the agent where lines are mixed", () => {
  expect(formatLog(entry, style)).toBe("09:04:05 INFO  text");
  expect(formatLog(entry, { ...style, showAgent: true })).toBe("09:04:05 INFO  dev text");
});

test("a tool's output follows its line, shortened", () => {
  const output = Array.from({ length: 12 }, (_, index) => `line ${index}`).join("\n");
  const lines = formatLog({ ...entry, kind: "tool-result", msg: "bash done", output }, style);
  expect(lines.split("\n")).toHaveLength(12);
  expect(lines).toMatch(/^09:04:05 INFO {2}bash done\n {4}line 0\n[^]*\n {4}… 2 more lines$/);
});

test("a level that nobody named is told by its number", () => {
  expect(formatLog({ ...entry, level: 35 as 30 }, style)).toContain(" 35    text");
});
