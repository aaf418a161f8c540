import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveAgent } from "../../../src/foundation/config/resolve-agent.ts";
import { agentFiles, known, project, usualAgent, usualProject, usualSkill } from "./samples.ts";

describe("resolveAgent, for any input", () => {
  it("never throws, whatever the files hold", () => {
    const keys = [
      "models",
      "credentials",
      "schedule",
      "scale",
      "timeout",
      "webhooks",
      "hooks",
      "params",
      "runtime",
      "harness",
      "source",
    ];
    const scraps = [
      "[",
      "]",
      "{",
      "}",
      "=",
      '"',
      "'",
      '"""',
      "'''",
      "\n",
      ",",
      ".",
      "#",
      "\\",
      "nan",
      "1e400",
      "-0",
      "1979-05-27",
      "true",
      "__proto__",
      "constructor",
      "[[webhooks]]",
      "[runtime]",
      "---",
      "0 9 * * *",
      "\r\n",
      "\0",
    ];
    const yaml = [
      "name",
      ":",
      " ",
      "- ",
      "&a",
      "*a",
      "<<: *a",
      "!!js/function",
      "!!binary",
      "|",
      ">",
      "? ",
      "\t",
      "%YAML",
      "...",
    ];
    const soup = (words: readonly string[]) =>
      fc
        .array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: "binary" })), {
          maxLength: 40,
        })
        .map((parts) => parts.join(""));
    const config = fc.oneof(
      fc.string({ unit: "binary" }),
      soup([...keys, ...scraps]),
      soup([...keys, ...scraps]).map((text) => usualAgent + text),
    );
    const skill = fc.oneof(
      fc.string(),
      soup(yaml),
      soup([...yaml, ...scraps]).map((text) => `---\n${text}\n---\nDo it.`),
      fc.constant(usualSkill),
    );
    const theProject = project(usualProject);
    fc.assert(
      fc.property(config, skill, (text, skillText) => {
        const change = resolveAgent(agentFiles(text, skillText), theProject, known);
        expect(["set", "invalid"]).toContain(change.type);
        if (change.type === "invalid") expect(change.problems.length).toBeGreaterThan(0);
      }),
      { numRuns: 3000 },
    );
  });

  it("never throws for any value of any key", () => {
    const value = fc
      .json({ maxDepth: 3 })
      .map((json) =>
        json
          .replaceAll(/"(?:[^"\\]|\\.)*":/g, (key) => `${key.slice(0, -1)}=`)
          .replaceAll("null", "0"),
      );
    const key = fc.constantFrom(
      "models",
      "credentials",
      "schedule",
      "scale",
      "webhooks",
      "params",
      "hooks",
      "runtime",
      "harness",
      "timezone",
    );
    const theProject = project(usualProject);
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name }), (pairs) => {
        const text = pairs.map(([name, given]) => `${name} = ${given}`).join("\n");
        resolveAgent(agentFiles(text), theProject, known);
      }),
      { numRuns: 2000 },
    );
  });
});
