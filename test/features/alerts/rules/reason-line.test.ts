import fc from "fast-check";
import { reasonLine } from "../../../../src/features/alerts/rules/records.ts";

test("reasonLine returns one line without terminal codes and invisible characters", () => {
  expect(reasonLine("\u001b[31mno such\r\n\timage\u001b[0m \u202egpj.exe\u0000 ")).toBe(
    "no such image gpj.exe",
  );
  expect(reasonLine(" \n\u001b[0m")).toBeNull();
  expect(reasonLine(null)).toBeNull();
});

test("reasonLine cuts a reason to 300 characters without splitting a character", () => {
  expect(reasonLine("x".repeat(300))).toBe("x".repeat(300));
  expect(reasonLine("x".repeat(301))).toBe(`${"x".repeat(299)}…`);
  expect(reasonLine(`${"x".repeat(298)}😀😀`)).toBe(`${"x".repeat(298)}…`);
});

test("reasonLine returns one line of at most 300 characters for any text", () =>
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 350 }), (text) => {
      const line = reasonLine(text) ?? "";
      expect(line.length).toBeLessThanOrEqual(300);
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    }),
    { numRuns: 50 },
  ));
