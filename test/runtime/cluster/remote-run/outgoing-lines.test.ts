import { maxLinesBytes } from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import { OutgoingLines } from "../../../../src/runtime/cluster/remote-run/outgoing-lines.ts";

const log = (kind: string, msg: string) =>
  JSON.stringify({ type: "log", level: 30, time: 1, kind, msg });
const value = (json: string, more: boolean) => JSON.stringify({ type: "return", json, more });
const status = (text: string) => JSON.stringify({ type: "status", text });

function numbersIn(text: string): number[] {
  const lines = text.split("\n").filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { seq: number }).seq);
}

/** The numbers of the state's lines after the first `stored` of these were stored. */
function stateAfter(stored: number, ...written: readonly string[]): number[] {
  const lines = new OutgoingLines();
  for (const line of written) lines.add("stdout", line, 1);
  lines.acknowledge(stored);
  return lines.state().flatMap(numbersIn);
}

test("the lines that a run has to send are numbered from 1, and kept until they are stored", () => {
  const lines = new OutgoingLines();
  lines.add("stdout", "one", 1);
  lines.add("stderr", "two", 2);
  expect(lines.next()).toBe(
    '{"seq":1,"time":1,"stream":"stdout","line":"one"}\n{"seq":2,"time":2,"stream":"stderr","line":"two"}\n',
  );
  expect(lines.acknowledge(1)).toBe(true);
  expect(lines.acknowledge(1)).toBe(false);
  expect(numbersIn(lines.next())).toEqual([2]);
  expect(lines.acknowledge(9)).toBe(true);
  expect([lines.isEmpty, lines.bytes]).toEqual([true, 0]);
});

test("the lines that a run has to send are sent in requests of limited length, except for a single long line", () => {
  const lines = new OutgoingLines();
  lines.add("stdout", "x".repeat(600_000), 1);
  for (let count = 0; count < 40; count += 1) lines.add("stdout", "y".repeat(32_000), 1);
  expect(numbersIn(lines.next())).toEqual([1]);
  lines.acknowledge(1);
  expect(lines.next().length).toBeLessThanOrEqual(512 * 1024);
  expect(numbersIn(lines.next())).toHaveLength(16);
  const wide = new OutgoingLines();
  for (let count = 0; count < 100; count += 1) wide.add("stdout", "\u5b57".repeat(10_000), 1);
  expect(Buffer.byteLength(wide.next())).toBeLessThanOrEqual(maxLinesBytes);
});

test("the lines that a run has to send end with the end, which stays until the scheduler forgets the run", () => {
  const lines = new OutgoingLines();
  lines.add("stdout", "one", 1);
  lines.end({ exitCode: 0, signal: null, outOfMemory: false, rejected: null }, 2);
  lines.add("stdout", "late", 3);
  lines.acknowledge(2);
  expect(numbersIn(lines.next())).toEqual([2]);
});

test("the lines that a run has to send accept no more lines once they are closed", () => {
  const lines = new OutgoingLines();
  lines.add("stdout", "one", 1);
  lines.close();
  lines.add("stdout", "two", 2);
  expect([lines.isEmpty, lines.bytes]).toEqual([true, 0]);
});

test("the state sent to another scheduler is the latest stored line of each kind, in order", () => {
  const ready = JSON.stringify({ type: "ready" });
  expect(stateAfter(4, status("a"), ready, status("b"), "raw", status("c"))).toEqual([2, 3]);
});

test("the state sent to another scheduler shows whether the model's text was its last word", () => {
  expect(stateAfter(2, log("said", "x"), log("tool", "y"), log("said", "z"))).toEqual([2]);
  expect(stateAfter(3, log("tool", "x"), log("said", "y"), log("hook", "z"))).toEqual([2]);
});

test("the state sent to another scheduler has the last whole value, and the pieces of the next one", () => {
  const written = [value("[1", true), value("]", false), value("[2", true), value("]", false)];
  expect(stateAfter(2, ...written)).toEqual([1, 2]);
  expect(stateAfter(3, ...written)).toEqual([1, 2, 3]);
  expect(stateAfter(4, ...written)).toEqual([3, 4]);
});

test("the state sent to another scheduler is empty when only the log holds lines of the run, or for messages on standard error", () => {
  expect(stateAfter(3, "raw", "{broken", '{"type":"unknown"}')).toEqual([]);
  const lines = new OutgoingLines();
  lines.add("stderr", status("not the run's own"), 1);
  lines.acknowledge(1);
  expect(lines.state()).toEqual([]);
});
