import { parseSkill } from "../../../src/foundation/config/skill.ts";
import { texts } from "./samples.ts";

const parse = (text: string, version = "1.2.3") => parseSkill("SKILL.md", text, version);
const sayings = (text: string): string[] => texts(parse(text).problems);

test("parseSkill reads the front matter and the body", () => {
  const text = `---
name: "Developer"
description: Fixes issues
license: MIT
compatibility: ">=1.0 <2"
metadata: { other: program }
---

# Task
--- not the end
Do it.
`;
  expect(parse(text)).toEqual({
    skill: {
      title: "Developer",
      description: "Fixes issues",
      license: "MIT",
      compatibility: ">=1.0 <2",
      instructions: "# Task\n--- not the end\nDo it.",
    },
    problems: [],
  });
});

test.each([
  "Do it.",
  "----\nDo it.",
  "\uFEFF---\r\n---\r\nDo it.\r\n",
  "---\n# nothing\n---\nDo it.",
  "---\nname:\n---\nDo it.",
])("parseSkill reads %j as a skill without metadata", (text) => {
  const { skill, problems } = parse(text);
  expect(skill).toMatchObject({ title: null, description: null, compatibility: null });
  expect(skill?.instructions).toMatch(/Do it\.$/);
  expect(problems).toEqual([]);
});

test.each(["js", "JS", " js", "json", "yaml"])(
  "parseSkill rejects front matter that is marked as code: ---%s",
  (language) => {
    const text = `---${language}\n{ name: globalThis.planted = "planted" }\n---\nDo it.`;
    expect(parse(text).skill).toBeNull();
    expect(sayings(text)[0]).toMatch(/^error: SKILL.md:1:1 {2}front matter begins with "---/);
    expect(globalThis).not.toHaveProperty("planted");
  },
);

test("parseSkill reports the position of broken YAML, also when it parses the text again", () => {
  const text = '---\nname: ok\ndescription: "no end\n---\nDo it.';
  expect(sayings(text)[0]).toMatch(/^error: SKILL.md:\d+:\d+ {2}front matter is not valid YAML: /);
  expect(sayings(text)).toEqual(sayings(text));
  expect(sayings("---\nname: ok\nlist: [1,\n: }\n---\n")[0]).toMatch(/SKILL.md:4:/);
});

test.each([
  ["without an end", "---\nname: ok\nDo it.", /SKILL.md:1:1 {2}front matter has no end/],
  [
    "that ends with ---more",
    "---\nname: ok\n---more\nx: y\n---\nDo it.",
    /SKILL.md:3:1 {2}.*bare "---"/,
  ],
  [
    "of plain text",
    "---\njust text\n---\n",
    /SKILL.md:2:1 {2}front matter is "just text"; expected "key: value"/,
  ],
  ["of a list", "---\n- a\n---\n", /front matter is a list/],
  [
    "whose name is a number",
    "---\nlicense: MIT\nname: 5\n---\n",
    /SKILL.md:3:1 {2}name is 5; expected text/,
  ],
  ["of 70 KB", `---\n${"#".repeat(70_000)}\n---\n`, /front matter is too long/],
  ["of deep lists", `---\nname: ${"[".repeat(60_000)}\n---\n`, /not valid YAML/],
])("parseSkill refuses front matter %s", (_what, text, message) => {
  expect(parse(text).skill).toBeNull();
  expect(sayings(text)).toEqual([expect.stringMatching(message)]);
});

test("parseSkill rejects a skill for another version of Almanac, and names both versions", () => {
  const text = '---\nname: x\ncompatibility: ">=2"\n---\nDo it.';
  expect(sayings(text)).toEqual([
    expect.stringMatching(/^error: SKILL.md:3:1 {2}.*">=2".*version 1\.2\.3/),
  ]);
  expect(parse(text, "2.1.0-beta.1").skill).not.toBeNull();
});

test("parseSkill warns if `compatibility` is not a version range, and if there are no instructions", () => {
  const { skill, problems } = parse("---\ncompatibility: needs git\n---\n\n");
  expect(skill?.compatibility).toBe("needs git");
  expect(texts(problems)).toEqual([
    expect.stringMatching(
      /^warning: SKILL.md:2:1 {2}compatibility "needs git" is not a semver range/,
    ),
    expect.stringMatching(/^warning: SKILL.md {2}has no instructions/),
  ]);
});
