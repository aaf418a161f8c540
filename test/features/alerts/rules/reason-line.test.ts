import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { causeOf, reasonLine } from "../../../../src/features/alerts/rules/reason-line.ts";
import { anAlert } from "./alerts.ts";

describe("a reason", () => {
  it("is one line, without what a terminal or a reader's eye would act on", () => {
    expect(reasonLine("\u001b[31mno such\r\n\timage\u001b[0m \u202egpj.exe\u0000 ")).toBe(
      "no such image gpj.exe",
    );
    expect(reasonLine(" \n\u001b[0m")).toBeNull();
    expect(reasonLine(null)).toBeNull();
  });

  it("is cut between characters", () => {
    expect(reasonLine("x".repeat(300))).toBe("x".repeat(300));
    expect(reasonLine("x".repeat(301))).toBe(`${"x".repeat(299)}…`);
    expect(reasonLine(`${"x".repeat(298)}😀😀`)).toBe(`${"x".repeat(298)}…`);
  });

  test("of any text is one line of at most 300 characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 350 }), (text) => {
        const line = reasonLine(text) ?? "";
        expect(line.length).toBeLessThanOrEqual(300);
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
      { numRuns: 50 },
    );
  });
});

describe("the cause of an alert", () => {
  const cause = (agent: string, reason: string, more = {}): string =>
    causeOf(anAlert({ agent, reason, ...more }));

  it.each([
    ["exited with code 1", "exited with code 137"],
    ["agents/dev/config.toml:4:12  scale is wrong", "agents/ops/config.toml:9:1  scale is wrong"],
    ["dev-abcdefgh did not answer in 30 s", "ops-a2b3c4d5 did not answer in 4 s"],
    ["no object deadbeef here", "no object 0a1b2c3d here"],
    [
      "request req_011CSHoEeqs5C35K2UUqR7Fy was refused",
      "request req_99XYZoEeqs5C35K2UUqR7Fy was refused",
    ],
    [
      "id 123e4567-e89b-42d3-a456-556642440000 is unknown",
      "id abcdefab-cdef-4bcd-abcd-abcdefabcdef is unknown",
    ],
  ])("is the same for %s and %s", (ofDev, ofOps) => {
    expect(cause("dev", ofDev)).toBe(cause("ops", ofOps));
  });

  it("differs with the reason, the topic and the phase", () => {
    const all = [
      cause("dev", "exited with code 1"),
      cause("dev", "no such image"),
      cause("dev", "no such image", { topic: "image" }),
      cause("dev", "no such image", { phase: "resolved" }),
      causeOf(anAlert({ reason: null })),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it("has an agent's name only where it is a word", () => {
    expect(cause("a", "a failed at a-b")).toBe(cause("b", "b failed at a-b"));
  });
});
