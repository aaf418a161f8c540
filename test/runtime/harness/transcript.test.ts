import type { RunMessage } from "../../../src/runtime/wire/run-messages.ts";
import { redactMessage } from "../../../src/runtime/harness/run-job.ts";
import { liveCharacters, transcriptOf } from "../../../src/runtime/harness/transcript.ts";

function logged(write: (transcript: ReturnType<typeof transcriptOf>) => void) {
  const messages: RunMessage[] = [];
  const emit = (message: RunMessage) =>
    void messages.push(redactMessage(message, (value) => value));
  write(transcriptOf(emit));
  return messages.flatMap((message) => (message.type === "log" ? [message] : []));
}

const shortWords = "word ".repeat(4000);

describe("a session's transcript", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test("splits a long text into log entries between words, without loss", () => {
    const piecesOf = (text: string) =>
      logged((transcript) => transcript.assistant(text)).map(({ msg }) => msg);
    const pieces = piecesOf(shortWords);
    expect(pieces.join("")).toBe(shortWords);
    expect(pieces.filter((piece) => piece.length > 6000 || !/^(word )+$/.test(piece))).toEqual([]);
    expect(piecesOf("x".repeat(13_000)).map(({ length }) => length)).toEqual([6000, 6000, 1000]);
    expect(piecesOf(" \n")).toEqual([]);
  });

  test.each([
    ["the beginning of a long output", shortWords, false, /^(word )+… \(\d+ more characters\)$/],
    [
      "the end of a failed call's long output",
      `${shortWords}\nCommand exited with code 3`,
      true,
      /^\(\d+ characters before\) …( word)+ \nCommand exited with code 3$/,
    ],
  ])("keeps %s, and cuts between two words", (_what, output, isError, kept) => {
    const [result] = logged((transcript) => transcript.toolResult("1", output, isError, "bash"));
    expect(result?.fields?.output).toMatch(kept);
    expect(String(result?.fields?.output).length).toBeLessThan(8300);
  });

  test.each<[string, object, string]>([
    ["bash", { command: "ls" }, "bash: ls"],
    ["read", { path: "a.md" }, "read: a.md"],
    ["al_lock", { resource: "demo:x", waitSeconds: 3 }, "al_lock: demo:x"],
    ["al_call", { agent: "reviewer", context: "long" }, "al_call: reviewer"],
    ["al_rerun", {}, "al_rerun"],
  ])("describes a tool call of %s in one line", (tool, input, msg) => {
    expect(logged((transcript) => transcript.toolCall("1", tool, input))).toMatchObject([{ msg }]);
  });

  test("logs the output of a running call with the call's id, and nothing after the session's end", () => {
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
    const live = { tool: "bash", output: "compiling\n", leftOut: 0, durationMs: 1_000 };
    expect(messages).toMatchObject([
      { kind: "tool", fields: { call: "1" } },
      { kind: "tool-output", msg: "bash still running", fields: { call: "1", ...live } },
      { kind: "tool-result", fields: { call: "1" } },
      { kind: "tool", fields: { call: "2" } },
    ]);
  });

  test("limits the logged output of running calls, not their results", () => {
    const chunk = Buffer.from(`${"x".repeat(70)}\n`.repeat(100));
    const messages = logged((transcript) => {
      for (let call = 0; call < 100; call += 1) {
        transcript.toolCall(String(call), "bash", {});
        for (let half = 0; half < 50; half += 1) {
          transcript.toolOutput(String(call), chunk);
          vi.advanceTimersByTime(500);
        }
        transcript.toolResult(String(call), "done", false);
      }
    });
    const outputs = messages.flatMap(({ kind, fields }) =>
      kind === "tool-output" ? [(fields?.output ?? "") as string] : [],
    );
    const characters = outputs.join("").length;
    expect(characters).toBeGreaterThan(liveCharacters / 2);
    expect(characters).toBeLessThanOrEqual(liveCharacters);
    expect(messages.at(-1)?.fields?.output).toBe("done");
  });
});
