import { describe, expect, it } from "vitest";
import type { RunMessage } from "../../src/contracts/run-messages.ts";
import { storyOf } from "../../src/harness/story.ts";

function told(tell: (story: ReturnType<typeof storyOf>) => void) {
  const messages: RunMessage[] = [];
  tell(storyOf((message) => void messages.push(message)));
  return messages.flatMap((message) => (message.type === "log" ? [message] : []));
}

describe("the story of a session", () => {
  it("tells a long text in pieces that lose nothing and cut no word", () => {
    const text = "word ".repeat(4000);
    const pieces = told((story) => story.said(text)).map(({ msg }) => msg);
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join("")).toBe(text);
    expect(pieces.every((piece) => piece.length <= 6000 && /^(word )+$/.test(piece))).toBe(true);
    const one = "x".repeat(13_000);
    expect(told((story) => story.said(one)).map(({ msg }) => msg.length)).toEqual([
      6000, 6000, 1000,
    ]);
    expect(told((story) => story.said(" \n"))).toEqual([]);
  });

  it("cuts a long output between two words", () => {
    const [result] = told((story) => story.toolResult("1", "word ".repeat(4000), false, "bash"));
    expect(result?.fields?.output).toMatch(/^(word )+… \(\d+ more characters\)$/);
  });

  it("keeps the end of a failed call's long output, from between two words", () => {
    const output = `${"word ".repeat(4000)}\nCommand exited with code 3`;
    const [result] = told((story) => story.toolResult("1", output, true, "bash"));
    expect(result?.fields?.output).toMatch(
      /^\(\d+ characters before\) …( word)+ \nCommand exited with code 3$/,
    );
    expect(String(result?.fields?.output).length).toBeLessThan(8300);
  });

  it("knows a result by its call", () => {
    const [, result] = told((story) => {
      story.toolCall("1", "bash", { command: "false" });
      story.toolResult("1", "", true);
    });
    expect(result).toMatchObject({ level: 40, msg: "bash failed", fields: { tool: "bash" } });
  });

  it("says in one line what a call is about", () => {
    const calls: [string, object][] = [
      ["bash", { command: "ls" }],
      ["read", { path: "a.md" }],
      ["al_lock", { resource: "demo:x", waitSeconds: 3 }],
      ["al_call", { agent: "reviewer", context: "long" }],
      ["al_rerun", {}],
    ];
    const lines = told((story) =>
      calls.forEach(([tool, input]) => story.toolCall("1", tool, input)),
    );
    expect(lines.map(({ msg }) => msg)).toEqual([
      "bash: ls",
      "read: a.md",
      "al_lock: demo:x",
      "al_call: reviewer",
      "al_rerun",
    ]);
  });
});
