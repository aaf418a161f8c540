import fc from "fast-check";
import { cut, pad, widthOf, wrap } from "../../../../src/interfaces/cli/terminal/fit.ts";

const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;
/** Text as agents write it: plain, wide, joined, coloured by us. */
const lines = fc
  .array(fc.constantFrom("a", " ", "word", "日本", "é", "e\u0301", "👨‍👩‍👧", "🇩🇪", red("r d")), {
    maxLength: 30,
  })
  .map((parts) => parts.join(""));

test("cut leaves text that fits", () => {
  expect(cut("hello", 5)).toBe("hello");
  expect(cut(red("hello"), 5)).toBe(red("hello"));
});

test("cut marks the cut", () => expect(cut("hello world", 8)).toBe("hello w…"));

test("cut splits no wide character", () => expect(cut("日本語", 4)).toBe("日…"));

test("cut ends a colour at the cut", () =>
  expect(cut(red("hello"), 3)).toBe("\u001b[31mhe\u001b[0m…"));

test("cut never takes more than there is", () =>
  fc.assert(
    fc.property(lines, fc.nat(40), (line, columns) => widthOf(cut(line, columns)) <= columns),
  ));

test("pad fills exactly the given room", () =>
  fc.assert(
    fc.property(lines, fc.nat(40), (line, columns) => widthOf(pad(line, columns)) === columns),
  ));

test("wrap breaks between words, or within one that is too long", () => {
  expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
  expect(wrap("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
});

test("wrap continues a colour on the next line", () => {
  const [first = "", second = ""] = wrap(red("one two"), 4);
  expect(first).toBe("\u001b[31mone\u001b[0m");
  expect(second).toBe("\u001b[31mtwo\u001b[39m");
});

test("wrap loses nothing but spaces, and no line is too wide", () =>
  fc.assert(
    fc.property(lines, fc.integer({ min: 2, max: 40 }), (line, columns) => {
      const wrapped = wrap(line, columns);
      for (const part of wrapped) expect(widthOf(part)).toBeLessThanOrEqual(columns);

      const bare = (text: string) => text.replace(/\u001b\[\d+m| /g, "");
      expect(bare(wrapped.join(""))).toBe(bare(line));
    }),
  ));

test("wrap ends even when nothing fits", () => expect(wrap("日本", 1)).toEqual(["日本"]));
