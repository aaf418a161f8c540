import type { RunMessage } from "../../../src/runtime/harness/run-messages.ts";
import { redactMessage } from "../../../src/runtime/harness/run-job.ts";
import { liveCharacters, transcriptOf } from "../../../src/runtime/harness/transcript.ts";

function logged(write: (transcript: ReturnType<typeof transcriptOf>) => void) {
  const messages: RunMessage[] = [];
  const emit = (message: RunMessage) =>
    void messages.push(redactMessage(message, (value) => value));
  write(transcriptOf(emit));
  return messages.flatMap((message) => (message.type === "log" ? [message] : []));
}

test("a session's transcript logs a long text in pieces that lose nothing and cut no word", () => {
  const text = "word ".repeat(4000);
  const pieces = logged((transcript) => transcript.assistant(text)).map(({ msg }) => msg);
  expect(pieces.length).toBeGreaterThan(3);
  expect(pieces.join("")).toBe(text);
  expect(pieces.every((piece) => piece.length <= 6000 && /^(word )+$/.test(piece))).toBe(true);
  const one = "x".repeat(13_000);
  expect(logged((transcript) => transcript.assistant(one)).map(({ msg }) => msg.length)).toEqual([
    6000, 6000, 1000,
  ]);
  expect(logged((transcript) => transcript.assistant(" \n"))).toEqual([]);
});

test("a session's transcript cuts a long output between two words", () => {
  const [result] = logged((transcript) =>
    transcript.toolResult("1", "word ".repeat(4000), false, "bash"),
  );
  expect(result?.fields?.output).toMatch(/^(word )+… \(\d+ more characters\)$/);
});

test("a session's transcript keeps the end of a failed call's long output, from between two words", () => {
  const output = `${"word ".repeat(4000)}\nCommand exited with code 3`;
  const [result] = logged((transcript) => transcript.toolResult("1", output, true, "bash"));
  expect(result?.fields?.output).toMatch(
    /^\(\d+ characters before\) …( word)+ \nCommand exited with code 3$/,
  );
  expect(String(result?.fields?.output).length).toBeLessThan(8300);
});

test("a session's transcript matches a result to its call", () => {
  const [, result] = logged((transcript) => {
    transcript.toolCall("1", "bash", { command: "false" });
    transcript.toolResult("1", "", true);
  });
  expect(result).toMatchObject({ level: 40, msg: "bash failed", fields: { tool: "bash" } });
});

test("a session's transcript describes a call in one line", () => {
  const calls: [string, object][] = [
    ["bash", { command: "ls" }],
    ["read", { path: "a.md" }],
    ["al_lock", { resource: "demo:x", waitSeconds: 3 }],
    ["al_call", { agent: "reviewer", context: "long" }],
    ["al_rerun", {}],
  ];
  const lines = logged((transcript) =>
    calls.forEach(([tool, input]) => transcript.toolCall("1", tool, input)),
  );
  expect(lines.map(({ msg }) => msg)).toEqual([
    "bash: ls",
    "read: a.md",
    "al_lock: demo:x",
    "al_call: reviewer",
    "al_rerun",
  ]);
});

test("a session's transcript logs the output of a running call under the call's id, and nothing once the session has ended", () => {
  vi.useFakeTimers();
  const messages = logged((transcript) => {
    transcript.toolCall("1", "bash", { command: "make" });
    transcript.toolOutput("1", Buffer.from("compiling\n"));
    vi.advanceTimersByTime(1_000);
    transcript.toolResult("1", "compiling\n", false);
    transcript.toolOutput("1", Buffer.from("late\n"));
    transcript.toolCall("2", "bash", { command: "sleep 1000" });
    transcript.end();
    vi.advanceTimersByTime(100_000);
  });
  vi.useRealTimers();
  expect(messages.map(({ kind, fields }) => [kind, fields?.call])).toEqual([
    ["tool", "1"],
    ["tool-output", "1"],
    ["tool-result", "1"],
    ["tool", "2"],
  ]);
  expect(messages[1]).toMatchObject({
    msg: "bash still running",
    fields: { tool: "bash", output: "compiling\n", leftOut: 0, durationMs: 1_000 },
  });
});

test("a session's transcript bounds the log of running calls, not their results", () => {
  vi.useFakeTimers();
  const chunk = Buffer.from(`${"x".repeat(70)}\n`.repeat(100));
  const messages = logged((transcript) => {
    for (let call = 0; call < 100; call += 1) {
      transcript.toolCall(String(call), "bash", {});
      for (let second = 0; second < 25; second += 1) {
        transcript.toolOutput(String(call), chunk);
        vi.advanceTimersByTime(500);
        transcript.toolOutput(String(call), chunk);
        vi.advanceTimersByTime(500);
      }
      transcript.toolResult(String(call), "done", false);
    }
  });
  vi.useRealTimers();
  const live = messages.filter(({ kind }) => kind === "tool-output");
  const outputs = live.map(({ fields }) => fields?.output).filter((one) => typeof one === "string");
  const characters = outputs.join("").length;
  expect(characters).toBeGreaterThan(liveCharacters / 2);
  expect(characters).toBeLessThanOrEqual(liveCharacters);
  expect(messages.at(-1)?.fields?.output).toBe("done");
});
