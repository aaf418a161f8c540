import fc from "fast-check";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { createPictures } from "../../../src/runtime/runs/picture.ts";

const [secret, other] = ["hunter2-hunter2", "CANARY/AWS+SECRET/x9"] as const;
const redactor = createRedactor();
redactor.add([secret, other]);
const pictureOf = createPictures(redactor.split, "the key of a project");
const shown = (text: string) => pictureOf({ text }).prompt;

test.each([
  ["a terminal title", "hi\u001b]0;drop all\u0007", "hi\\u{1b}]0;drop all\\u{7}"],
  ["a right-to-left override", "a\u202eb [U+202E]", "a\\u{202e}b [U+202E]"],
  ["blanks other than spaces", "a\u00a0b\u3164", "a\\u{a0}b\\u{3164}"],
  ["carriage returns, but not line feeds", "a\r\n\tb", "a\\u{d}\n\tb"],
  ["text that looks like an escape", "C:\\u \\u{202e}", "C:\\u \\u{5c}u{202e}"],
  ["text that looks like a redaction", "[redacted 1] [red]", "\\u{5b}redacted 1] [red]"],
])("the approval prompt of a request escapes %s", (_what, text, expected) => {
  expect(shown(text)).toBe(expected);
});

test.each([
  ["numbered", `${secret}, ${other}, ${secret}`, "[redacted 1], [redacted 2], [redacted 1]"],
  ["recognized by its form", `al_${"aB3_-".repeat(8)}xyz.`, "[redacted 1]."],
  ["redacted with an invisible character inside", "hunter2\u200b-hunter2", "[redacted 1]"],
  ["redacted even where the text is cut", "x".repeat(1_795) + secret, "[reda… (1807 characters)"],
])("a secret in the approval prompt of a request is %s", (_how, text, expected) => {
  const end = "Not all of it is shown. Fingerprint: ";
  const [prompt, fingerprint] = shown(text).split(`\n\n${end}`);
  expect(prompt?.replace(/^x+/, "")).toBe(expected);
  expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
});

const pieces = [
  secret,
  other,
  secret.slice(0, -1),
  "[redacted 1]",
  "redacted]",
  "u{",
  "\\u{1b}",
  "]0;",
  "\u001b\\",
  "[31m",
  "\n\nNot all of it is shown. Fingerprint: ",
  "… (2000 characters)",
  "x".repeat(1_790),
  ...Array.from(
    "[\\PX^_} \t\r\n\u0007\u001b\u0090\u009c\u00a0\u200b\u2028\u202e\ud800\ufe0f\u{e0041}",
  ),
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string()), { maxLength: 8 })
  .map((parts) => parts.join(""));
const changed = fc
  .tuple(hostile, fc.nat(), fc.constantFrom("", ...pieces))
  .map(([text, at, piece]): [string, string] => {
    const place = at % (text.length + 1);
    return [text, text.slice(0, place) + piece + text.slice(place + (at % 2))];
  });

test("the approval prompts of two requests differ if the requests do", () => {
  fc.assert(
    fc.property(changed, fc.boolean(), (two, isTool) => {
      const [a, b] = two.map((text) =>
        pictureOf(isTool ? { text: "asks", changes: [JSON.stringify(text), "end"] } : { text }),
      );
      const isSame = two[0] === two[1];
      expect([a?.prompt === b?.prompt, a?.requestHash === b?.requestHash]).toEqual([
        isSame,
        isSame,
      ]);
      expect(a?.prompt.replaceAll(/[\n\t]/g, "")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u);
      for (const hidden of [secret, other]) expect(a?.prompt).not.toContain(hidden);
    }),
    { numRuns: 3_000 },
  );
});
