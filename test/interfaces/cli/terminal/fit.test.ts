import fc from "fast-check";
import { cut, pad, widthOf, wrap } from "../../../../src/interfaces/cli/terminal/fit.ts";

const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;
/** Text as agents write it: plain, wide, joined, coloured by us. */
const parts = fc.constantFrom("a", " ", "word", "日本", "é", "e\u0301", "👨‍👩‍👧", "🇩🇪", red("r d"));
const lines = fc.array(parts, { maxLength: 30 }).map((some) => some.join(""));

test.each([
  ["leaves text that fits", red("hello"), 5, red("hello")],
  ["marks the cut", "hello world", 8, "hello w…"],
  ["splits no wide character", "日本語", 4, "日…"],
  ["ends a colour at the cut", red("hello"), 3, "\u001b[31mhe\u001b[0m…"],
])("the terminal function cut %s", (_what, text, columns, shown) =>
  expect(cut(text, columns)).toBe(shown),
);

test("cut returns at most the given columns, and pad exactly the given columns", () =>
  fc.assert(
    fc.property(lines, fc.nat(40), (line, columns) => {
      expect(widthOf(cut(line, columns))).toBeLessThanOrEqual(columns);
      expect(widthOf(pad(line, columns))).toBe(columns);
    }),
  ));

test.each([
  ["breaks between words", "one two three", 8, ["one two", "three"]],
  ["breaks a word that is too long", "abcdefghij", 4, ["abcd", "efgh", "ij"]],
  [
    "continues a colour on the next line",
    red("one two"),
    4,
    ["\u001b[31mone\u001b[0m", "\u001b[31mtwo\u001b[39m"],
  ],
  ["ends even when nothing fits", "日本", 1, ["日本"]],
])("the terminal function wrap %s", (_what, text, columns, shown) =>
  expect(wrap(text, columns)).toEqual(shown),
);

test("wrap loses nothing but spaces, and no line is too wide", () =>
  fc.assert(
    fc.property(lines, fc.integer({ min: 2, max: 40 }), (line, columns) => {
      const wrapped = wrap(line, columns);
      for (const part of wrapped) expect(widthOf(part)).toBeLessThanOrEqual(columns);
      const bare = (text: string) => text.replace(/\u001b\[\d+m| /g, "");
      expect(bare(wrapped.join(""))).toBe(bare(line));
    }),
  ));
