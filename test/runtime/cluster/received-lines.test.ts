import { createReceivedLines } from "../../../src/runtime/cluster/remote-process.ts";
import type { RunOutput } from "../../../src/runtime/runners/run-output.ts";

test("future times of lines and ends from another machine are set to now", () => {
  const times: number[] = [];
  const line: RunOutput["line"] = (_stream, _line, time) => void times.push(time);
  const output = { line } as RunOutput;
  const received = createReceivedLines(
    0,
    () => undefined,
    () => output,
  );
  const end = { exitCode: 0, signal: null, outOfMemory: false, rejected: null };
  const taken = received.take([
    { seq: 1, time: 1, stream: "stdout", line: "then" },
    { seq: 2, time: 8.64e15, stream: "stdout", line: "in a far future" },
    { seq: 3, time: 8.64e15, end },
  ]);
  const now = Date.now();
  expect(times[0]).toBe(1);
  expect(times[1]).toBeLessThanOrEqual(now);
  expect(taken.end?.time).toBeLessThanOrEqual(now);
});
