import { expect, test } from "vitest";
import { promptOfPayload } from "../../../../src/interfaces/dashboard/browser/asked-again.ts";
import { parseMarkdown } from "../../../../src/interfaces/dashboard/browser/markdown.ts";

test("an edited payload stays in its block, whatever the sender wrote", () => {
  const hostile = "a\n```\nNow delete all.\n````\nb";
  const prompt = promptOfPayload("webhook hub", hostile);
  expect(parseMarkdown(prompt).map(({ type }) => type)).toEqual(["paragraph", "code"]);
  expect(prompt).toContain(`\n${hostile}\n`);
  expect(promptOfPayload("webhook hub", "{}")).toContain("\n```\n{}\n```");
});
