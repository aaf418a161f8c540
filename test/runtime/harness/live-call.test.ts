import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { liveCall } from "../../../src/runtime/harness/live-call.ts";
import type { CallProgress } from "../../../src/runtime/harness/live-call.ts";

describe("a call while it runs", () => {
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

  it("that is over within a second has its result alone", () => {
    expect(run(990, 10, "line\n")).toEqual([]);
  });

  it("is logged twice a second at most, with how long it has run", () => {
    const pieces = run(5_100, 10, "line\n");
    expect(pieces.map(({ durationMs }) => durationMs)).toEqual([
      1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000,
    ]);
    expect(pieces.map(({ output }) => output).join("").length).toBeGreaterThan(490 * 5);
  });

  it("is logged more and more seldom: an hour of floods stays small", () => {
    const pieces = run(3_600_000, 100, "a line of an endless build\n".repeat(100));
    expect(pieces.length).toBeLessThan(310);
    const characters = pieces.reduce((sum, { output }) => sum + output.length, 0);
    expect(characters).toBeLessThan(310 * 4096);
  });

  it("that prints nothing is logged after 10 s and each doubling", () => {
    const seconds = run(100_000, 1e9, "").map(({ durationMs }) => Math.round(durationMs / 1000));
    expect(seconds).toEqual([10, 20, 40, 82]);
  });
});
