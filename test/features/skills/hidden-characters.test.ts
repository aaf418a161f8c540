import {
  hiddenCharacters,
  withHiddenShown,
} from "../../../src/features/skills/hidden-characters.ts";

const codes = (text: string) => hiddenCharacters(text, 100).map(({ codePoint }) => codePoint);

test("hidden characters are reported with line, column, code point and name", () =>
  expect(hiddenCharacters("# Title\n\n😀 a\u202Eb\n", 10)).toEqual([
    { line: 3, column: 4, codePoint: "U+202E", name: "right-to-left override" },
  ]));

test.each([
  ["bidi controls", "a\u202A\u202B\u202D\u202E\u2066\u2067\u2068\u2069\u200F", 9],
  ["zero-width characters", "a\u200B\u200C\u200D\u2060\u00AD", 5],
  ["text in tags", `a${String.fromCodePoint(0xe0068, 0xe0069)}`, 2],
  ["text in variation selectors", `a\uFE01${String.fromCodePoint(0xe0100)}`, 2],
  ["blanks that look like letters", "a\u3164\uFFA0\u115F\u2800", 4],
  ["control characters", "a\u001b[31m\u0008\u009b", 3],
  ["private use", "a\uE000", 1],
])("hidden characters include %s", (_what, text, count) => expect(codes(text)).toHaveLength(count));

test.each([
  "Grüße, 日本語, עברית, العربية\n\ttab\r\n",
  "❤️ 👩‍💻 👩🏽‍🚀 🏳️‍🌈 1️⃣",
  "\uFEFF# With a mark before\n",
])("hidden characters do not include any character of %j", (text) =>
  expect(codes(text)).toEqual([]),
);

test("hidden characters are counted up to a limit", () =>
  expect(hiddenCharacters("\u200B".repeat(1000), 20)).toHaveLength(20));

test("withHiddenShown replaces each hidden character by its code point", () => {
  const text = "a\u202Eb\r\n\tc\u200B 👩‍💻 \u001b[1m";
  expect(withHiddenShown(text)).toBe("a[U+202E]b\n\tc[U+200B] 👩‍💻 [U+001B][1m");
});
