import fc from "fast-check";
import { expect, test } from "vitest";
import { formatLine, maxLineBytes } from "../../src/logs/format-line.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";
import { entry } from "./support.ts";

const asIs = (text: string): string => text;

test("a line is pino's shape with its fields, in one line of ASCII", () => {
  const line = formatLine(
    entry("gr\u00fc\u00dfe \u{1f600}\n\u2028", { instanceId: "dev-1", tool: "bash", n: 1 }),
    asIs,
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

test("secrets go from the message and from every field", () => {
  const redact = (text: string): string => text.replaceAll('s3"cret', "[redacted]");
  const line = formatLine(entry('a s3"cret', { input: { deep: ['x s3"cret'] } }), redact);
  expect(JSON.parse(line)).toMatchObject({
    msg: "a [redacted]",
    input: { deep: ["x [redacted]"] },
  });
});

test("secrets go from names of fields too, and what is nested without end is left out", () => {
  const redact = (text: string): string => text.replaceAll("s3cret", "[redacted]");
  const nested = JSON.parse(`${"[".repeat(3_500)}"s3cret"${"]".repeat(3_500)}`) as unknown;
  const line = formatLine(entry("call", { input: { s3cret: 1 }, output: nested }), redact);
  expect(JSON.parse(line)).toMatchObject({ msg: "call", input: { "[redacted]": 1 } });
  expect(line).toContain("[too deep]");
  expect(line.length).toBeLessThan(1_000);
});

test("a secret where a text is cut leaves no half of itself", () => {
  const secret = "TOPSECRET".repeat(50);
  const text = "a".repeat(23_900) + secret + "b".repeat(50_000);
  const line = formatLine(entry(text), (all) => all.replaceAll(secret, "[redacted]"));
  expect(line).not.toContain("TOPSECRET");
});

test("what is too long is cut and says so", () => {
  const line = formatLine(
    entry("m".repeat(500_000), { output: "o".repeat(90_000), exit: 3 }),
    asIs,
  );
  expect(line.length).toBeLessThanOrEqual(maxLineBytes);
  const parsed = JSON.parse(line) as LogEntry;
  expect(parsed).toMatchObject({ truncated: true, exit: 3 });
  expect(parsed.msg).toMatch(/^m+… \(cut, 500000 characters\)$/);
  expect(parsed.output).toMatch(/^o+… \(cut, 90000 characters\)$/);
});

test("fields that no cutting makes short enough go, the message stays", () => {
  const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`field${i}`, i]));
  const line = formatLine(entry("hello", many), asIs);
  expect(JSON.parse(line)).toMatchObject({ msg: "hello", agent: "dev", truncated: true });
  expect(line.length).toBeLessThan(1_000);
});

test("fields that JSON cannot hold are said, not thrown", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  expect(JSON.parse(formatLine(entry("x", { circle }), asIs))).toMatchObject({
    msg: "x",
    circle: { self: "[circular]" },
  });
  expect(JSON.parse(formatLine(entry("x", { big: 1n }), asIs))).toHaveProperty("fieldsError");
});

test("any entry makes one short line that parses", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 9_000 }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (msg, field) => {
        const line = formatLine(entry(msg, { field }), asIs);
        expect(line.length).toBeLessThanOrEqual(maxLineBytes);
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(JSON.parse(line)).toHaveProperty("msg");
      },
    ),
    { numRuns: 30 },
  );
});
