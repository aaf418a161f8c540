import { describe, expect, test } from "vitest";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import {
  anchorAt,
  linesDownTo,
  logLines,
  logScreen,
} from "../../../../src/interfaces/cli/tui/log-screen.ts";
import { aStyle, now } from "./statuses.ts";

function anEntry(msg: string): LogEntry {
  return { level: 30, time: now, msg, agent: "hello" };
}

const entries = ["one", "two words\nand a line", "three"].map(anEntry);
const facts = { agent: "hello", entries, below: 0, problem: null, stopping: null };

describe("the log of an agent", () => {
  test("shows the last lines that fit, and that it follows", () => {
    const style = aStyle(80, 4);
    const lines = logScreen(facts, logLines(entries, style), style);
    expect(lines).toHaveLength(4);
    expect(lines[0]).toBe("hello log following");
    expect(lines.slice(1, 3)).toEqual([
      expect.stringContaining("and a line"),
      expect.stringMatching(/INFO {2}three$/),
    ]);
    expect(lines[3]).toContain("Esc back");
  });

  test("says how much is hidden below", () => {
    const style = aStyle(80, 4);
    const lines = logScreen({ ...facts, below: 2 }, logLines(entries, style), style);
    expect(lines[0]).toContain("2 lines below, End follows");
    expect(lines[1]).toMatch(/one$/);
  });

  test("says so when there is nothing, and what keeps it from going on", () => {
    const style = aStyle(80, 10);
    expect(logScreen(facts, [], style)[1]).toBe("Nothing was logged yet.");
    const problem = "can't be read: EACCES";
    expect(logScreen({ ...facts, problem }, [], style)[0]).toContain(problem);
  });

  test("neutralises what a terminal would take for a command", () => {
    const evil = anEntry("\u001b[2Jclear\u0007\ttab");
    expect(logLines([evil], aStyle(80, 10)).join("")).toMatch(/INFO {2}clear {4}tab$/);
  });

  test("fits: long lines go on below", () => {
    const lines = logLines([anEntry("word ".repeat(40))], aStyle(30, 10));
    expect(lines.length).toBeGreaterThan(6);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(30);
  });
});

describe("the place in a log", () => {
  const style = aStyle(80, 10);

  test("is none at the end, which follows", () => {
    expect(anchorAt(4, entries, style)).toBeNull();
    expect(linesDownTo(null, entries, style)).toBe(4);
  });

  test("is the same line again, for every line", () => {
    for (const end of [1, 2, 3]) {
      const anchor = anchorAt(end, entries, style);
      expect(linesDownTo(anchor, entries, style)).toBe(end);
      const more = [...entries, anEntry("later")];
      expect(linesDownTo(anchor, more, style)).toBe(end);
      expect(linesDownTo(anchor, more.slice(1), style)).toBe(Math.max(0, end - 1));
    }
  });
});
