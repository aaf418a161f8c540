import fc from "fast-check";
import { expect, test } from "vitest";
import { formatLine, maxLineBytes } from "../../../src/foundation/logs/format-line.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { entry } from "./support.ts";

test("a line is pino's shape with its fields, in one line of ASCII", () => {
  const line = formatLine(
    entry("gr\u00fc\u00dfe \u{1f600}\n\u2028", { instanceId: "dev-1", tool: "bash", n: 1 }),
  );
  expect(line).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(line)).toEqual({
    level: 30,
    time: expect.any(Number) as number,
    agent: "dev",
    instanceId: "dev-1",
    tool: "bash",
    n: 1,
    msg: "gr\u00fc\u00dfe \u{1f600}\n\u2028",
  });
});

test("what is too long is cut and says so", () => {
  const line = formatLine(entry("m".repeat(500_000), { output: "o".repeat(90_000), exit: 3 }));
  expect(line.length).toBeLessThanOrEqual(maxLineBytes);
  const parsed = JSON.parse(line) as LogEntry;
  expect(parsed).toMatchObject({ truncated: true, exit: 3 });
  expect(parsed.msg).toMatch(/^m+… \(cut, 500000 characters\)$/);
  expect(parsed.output).toMatch(/^o+… \(cut, 90000 characters\)$/);
});

test("fields that no cutting makes short enough go, the message stays", () => {
  const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`field${i}`, i]));
  const line = formatLine(entry("hello", many));
  expect(JSON.parse(line)).toMatchObject({ msg: "hello", agent: "dev", truncated: true });
  expect(line.length).toBeLessThan(1_000);
});

test("fields that JSON cannot hold are said, not thrown", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  expect(JSON.parse(formatLine(entry("x", { circle })))).toHaveProperty("fieldsError");
  expect(JSON.parse(formatLine(entry("x", { big: 1n })))).toHaveProperty("fieldsError");
});

test("any entry makes one short line that parses", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 9_000 }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (msg, field) => {
        const line = formatLine(entry(msg, { field }));
        expect(line.length).toBeLessThanOrEqual(maxLineBytes);
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(JSON.parse(line)).toHaveProperty("msg");
      },
    ),
    { numRuns: 30 },
  );
});
