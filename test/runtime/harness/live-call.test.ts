import { liveCall, liveOutput, pieceCharacters } from "../../../src/runtime/harness/live-call.ts";
import type { CallProgress } from "../../../src/runtime/harness/live-call.ts";

describe("a running tool call", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  /** Runs a call for so many milliseconds, with a chunk every `everyMs`. */
  function run(ms: number, everyMs: number, chunk: string): readonly CallProgress[] {
    const pieces: CallProgress[] = [];
    const call = liveCall((piece) => void pieces.push(piece));
    const printing = setInterval(() => call.add(Buffer.from(chunk)), everyMs);
    vi.advanceTimersByTime(ms);
    clearInterval(printing);
    call.end();
    vi.advanceTimersByTime(60_000);
    return pieces;
  }

  test("of less than a second logs its result and no live output", () =>
    expect(run(990, 10, "line\n")).toEqual([]));

  test("is logged at most twice a second, with how long it has run", () => {
    const pieces = run(5_100, 10, "line\n");
    expect(pieces.map(({ durationMs }) => durationMs)).toEqual([
      1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000,
    ]);
    expect(pieces.map(({ output }) => output).join("").length).toBeGreaterThan(490 * 5);
  });

  test("that prints endlessly is logged less and less often", () => {
    const pieces = run(3_600_000, 100, "a line of an endless build\n".repeat(100));
    expect(pieces.length).toBeLessThan(310);
    const characters = pieces.reduce((sum, { output }) => sum + output.length, 0);
    expect(characters).toBeLessThan(310 * 4096);
  });

  test("without output is logged after 10 s, 20 s, 40 s and so on", () => {
    const seconds = run(100_000, 1e9, "").map(({ durationMs }) => Math.round(durationMs / 1000));
    expect(seconds).toEqual([10, 20, 40, 82]);
  });
});

/** What each look at a command's output shows, after each of these chunks. */
function looks(...chunks: readonly (string | Buffer)[]) {
  const output = liveOutput();
  return chunks.map((chunk) => {
    output.add(Buffer.from(chunk));
    return output.take();
  });
}
const shown = (output: string, leftOut = 0) => ({ output, leftOut });
const [first, second] = [Buffer.from("grün\n").subarray(0, 3), Buffer.from("grün\n").subarray(3)];
const flood = "x".repeat(1_000_000);

describe("the live output of a command", () => {
  test.each<[string, (string | Buffer)[], ReturnType<typeof shown>[]]>([
    [
      "contains each line once, when it is complete",
      ["one\ntw", "o\nthree", ""],
      [shown("one\n"), shown("two\n"), shown("")],
    ],
    [
      "never contains half of a secret that is printed in two chunks",
      ["the token is tok_9f8e7d", "6c5b4a\n"],
      [shown(""), shown("the token is tok_9f8e7d6c5b4a\n")],
    ],
    [
      "contains only the last state of a progress bar",
      ["begin\r\n10 %\r30 %\r"],
      [shown("begin\r\n30 %\r")],
    ],
    ["joins characters that came in two chunks", [first, second], [shown(""), shown("grün\n")]],
    [
      "skips a line that is too long, and continues behind it",
      [flood, "xxx\nnext\n"],
      [shown("", 1_000_000), shown("next\n", 4)],
    ],
  ])("%s", (_what, chunks, expected) => {
    expect(looks(...chunks)).toEqual(expected);
  });

  test("keeps the newest of many lines, and counts the omitted characters", () => {
    const line = "0123456789 0123456789\n";
    const [piece = shown("")] = looks(line.repeat(5_000));
    expect(piece.output.length).toBeLessThanOrEqual(pieceCharacters);
    expect(piece.output.length).toBeGreaterThan(pieceCharacters - 2 * line.length);
    expect(piece.output.startsWith(line) && piece.output.endsWith(line)).toBe(true);
    expect(piece.leftOut + piece.output.length).toBe(5_000 * line.length);
  });
});
