import { liveCall, liveOutput, pieceCharacters } from "../../../src/runtime/harness/live-call.ts";
import type { CallProgress } from "../../../src/runtime/harness/live-call.ts";

describe("a running call", () => {
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

  test("is logged more and more rarely: an hour of floods stays small", () => {
    const pieces = run(3_600_000, 100, "a line of an endless build\n".repeat(100));
    expect(pieces.length).toBeLessThan(310);
    const characters = pieces.reduce((sum, { output }) => sum + output.length, 0);
    expect(characters).toBeLessThan(310 * 4096);
  });

  test("that prints nothing is logged after 10 s and each doubling", () => {
    const seconds = run(100_000, 1e9, "").map(({ durationMs }) => Math.round(durationMs / 1000));
    expect(seconds).toEqual([10, 20, 40, 82]);
  });
});

function outputOf(...chunks: readonly string[]) {
  const output = liveOutput();
  for (const chunk of chunks) output.add(Buffer.from(chunk));
  return output;
}

test("the live output of a command has each line once, and only when it is complete", () => {
  const output = outputOf("one\ntw");
  expect(output.take()).toEqual({ output: "one\n", leftOut: 0 });
  output.add(Buffer.from("o\nthree"));
  expect(output.take()).toEqual({ output: "two\n", leftOut: 0 });
  expect(output.take()).toEqual({ output: "", leftOut: 0 });
});

test("the live output of a command never has half of a secret that is printed in two parts", () => {
  const output = outputOf("the token is tok_9f8e7d");
  const first = output.take().output;
  output.add(Buffer.from("6c5b4a\n"));
  expect([first, output.take().output]).toEqual(["", "the token is tok_9f8e7d6c5b4a\n"]);
});

test("the live output of a command has the last state of a progress bar", () => {
  const output = outputOf("begin\r\n10 %\r20 %\r30 %\r");
  expect(output.take().output).toBe("begin\r\n30 %\r");
});

test("the live output of a command has whole characters that came in two chunks", () => {
  const bytes = Buffer.from("grün\n");
  const output = liveOutput();
  output.add(bytes.subarray(0, 3));
  output.add(bytes.subarray(3));
  expect(output.take().output).toBe("grün\n");
});

test("the live output of a command keeps the newest lines of a flood of output, and counts the characters before them", () => {
  const line = "0123456789 0123456789\n";
  const output = outputOf(...Array.from({ length: 5_000 }, () => line));
  const piece = output.take();
  expect(piece.output.length).toBeLessThanOrEqual(pieceCharacters);
  expect(piece.output.length).toBeGreaterThan(pieceCharacters - 2 * line.length);
  expect(piece.output.startsWith(line) && piece.output.endsWith(line)).toBe(true);
  expect(piece.leftOut + piece.output.length).toBe(5_000 * line.length);
});

test("the live output of a command skips a line without end of any length, and continues behind it", () => {
  const output = outputOf(...Array.from({ length: 1_000 }, () => "x".repeat(1_000)));
  expect(output.take()).toEqual({ output: "", leftOut: 1_000_000 });
  output.add(Buffer.from("xxx\nnext\n"));
  expect(output.take()).toEqual({ output: "next\n", leftOut: 4 });
});
