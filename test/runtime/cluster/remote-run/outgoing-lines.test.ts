import { maxLinesBytes } from "../../../../src/runtime/wire/remote-protocol.ts";
import { OutgoingLines } from "../../../../src/runtime/cluster/remote-run/outgoing-lines.ts";

const log = (kind: string, msg: string) =>
  JSON.stringify({ type: "log", level: 30, time: 1, kind, msg });
const value = (json: string, more: boolean) => JSON.stringify({ type: "return", json, more });
const status = (text: string) => JSON.stringify({ type: "status", text });

function numbersIn(text: string): number[] {
  const lines = text.split("\n").filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { seq: number }).seq);
}

/** The lines of a run that wrote these. */
function linesOf(...written: readonly string[]): OutgoingLines {
  const lines = new OutgoingLines();
  for (const line of written) lines.add("stdout", line, 1);
  return lines;
}
const end = { exitCode: 0, signal: null, outOfMemory: false, rejected: null };

describe("the unsent lines of a run", () => {
  test("are numbered from 1, and kept until they are stored", () => {
    const lines = linesOf("one");
    lines.add("stderr", "two", 2);
    expect(lines.next()).toBe(
      '{"seq":1,"time":1,"stream":"stdout","line":"one"}\n{"seq":2,"time":2,"stream":"stderr","line":"two"}\n',
    );
    expect([lines.acknowledge(1), lines.acknowledge(1)]).toEqual([true, false]);
    expect(numbersIn(lines.next())).toEqual([2]);
    expect(lines.acknowledge(9)).toBe(true);
    expect([lines.isEmpty, lines.bytes]).toEqual([true, 0]);
  });

  test("are split into requests of limited length, except for a single long line", () => {
    const lines = linesOf("x".repeat(600_000), ...Array<string>(40).fill("y".repeat(32_000)));
    expect(numbersIn(lines.next())).toEqual([1]);
    lines.acknowledge(1);
    expect(lines.next().length).toBeLessThanOrEqual(512 * 1024);
    expect(numbersIn(lines.next())).toHaveLength(16);
    const wide = linesOf(...Array<string>(100).fill("\u5b57".repeat(10_000)));
    expect(Buffer.byteLength(wide.next())).toBeLessThanOrEqual(maxLinesBytes);
  });

  test("keep the end of the run, although it was acknowledged", () => {
    const lines = linesOf("one");
    lines.end(end, 2);
    lines.add("stdout", "late", 3);
    lines.acknowledge(2);
    expect(numbersIn(lines.next())).toEqual([2]);
  });

  test("accept no more lines once they are closed", () => {
    const lines = linesOf("one");
    lines.close();
    lines.add("stdout", "two", 2);
    expect([lines.isEmpty, lines.bytes]).toEqual([true, 0]);
  });
});

describe("the state sent to another scheduler", () => {
  const ready = JSON.stringify({ type: "ready" });
  const values = [value("[1", true), value("]", false), value("[2", true), value("]", false)];

  test.each<[string, number, string[], number[]]>([
    [
      "is the latest stored line of each kind, in order",
      4,
      [status("a"), ready, status("b"), "raw", status("c")],
      [2, 3],
    ],
    [
      "shows that a tool came after the model's text",
      2,
      [log("said", "x"), log("tool", "y"), log("said", "z")],
      [2],
    ],
    [
      "shows that the model's text came after its last tool",
      3,
      [log("tool", "x"), log("said", "y"), log("hook", "z")],
      [2],
    ],
    ["contains the last whole return value", 2, values, [1, 2]],
    ["contains the pieces of the next return value too", 3, values, [1, 2, 3]],
    ["contains only the next return value once it is whole", 4, values, [3, 4]],
    ["is empty for lines of the log alone", 3, ["raw", "{broken", '{"type":"unknown"}'], []],
  ])("%s", (_what, stored, written, numbers) => {
    const lines = linesOf(...written);
    lines.acknowledge(stored);
    expect(lines.state().flatMap(numbersIn)).toEqual(numbers);
  });

  test("is empty for messages on standard error", () => {
    const lines = new OutgoingLines();
    lines.add("stderr", status("not the run's own"), 1);
    lines.acknowledge(1);
    expect(lines.state()).toEqual([]);
  });
});
