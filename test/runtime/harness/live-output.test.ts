import { describe, expect, it } from "vitest";
import { liveOutput, pieceCharacters } from "../../../src/runtime/harness/live-output.ts";

function outputOf(...chunks: readonly string[]) {
  const output = liveOutput();
  for (const chunk of chunks) output.add(Buffer.from(chunk));
  return output;
}

describe("the live output of a command", () => {
  it("has each line once, and a line only when it is whole", () => {
    const output = outputOf("one\ntw");
    expect(output.take()).toEqual({ output: "one\n", leftOut: 0 });
    output.add(Buffer.from("o\nthree"));
    expect(output.take()).toEqual({ output: "two\n", leftOut: 0 });
    expect(output.take()).toEqual({ output: "", leftOut: 0 });
  });

  it("never has half of a secret that is printed in two parts", () => {
    const output = outputOf("the token is tok_9f8e7d");
    const first = output.take().output;
    output.add(Buffer.from("6c5b4a\n"));
    expect([first, output.take().output]).toEqual(["", "the token is tok_9f8e7d6c5b4a\n"]);
  });

  it("has the last state of a progress bar", () => {
    const output = outputOf("begin\r\n10 %\r20 %\r30 %\r");
    expect(output.take().output).toBe("begin\r\n30 %\r");
  });

  it("has characters whole that came in two chunks", () => {
    const bytes = Buffer.from("grün\n");
    const output = liveOutput();
    output.add(bytes.subarray(0, 3));
    output.add(bytes.subarray(3));
    expect(output.take().output).toBe("grün\n");
  });

  it("has the newest lines of a flood, and counts what came before", () => {
    const line = "0123456789 0123456789\n";
    const output = outputOf(...Array.from({ length: 5_000 }, () => line));
    const piece = output.take();
    expect(piece.output.length).toBeLessThanOrEqual(pieceCharacters);
    expect(piece.output.length).toBeGreaterThan(pieceCharacters - 2 * line.length);
    expect(piece.output.startsWith(line) && piece.output.endsWith(line)).toBe(true);
    expect(piece.leftOut + piece.output.length).toBe(5_000 * line.length);
  });

  it("leaves out a line without end, however long, and goes on behind it", () => {
    const output = outputOf(...Array.from({ length: 1_000 }, () => "x".repeat(1_000)));
    expect(output.take()).toEqual({ output: "", leftOut: 1_000_000 });
    output.add(Buffer.from("xxx\nnext\n"));
    expect(output.take()).toEqual({ output: "next\n", leftOut: 4 });
  });
});
