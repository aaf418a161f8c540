import { plainText } from "../../../src/foundation/contracts/plain-text.ts";

test.each([
  ["colours", "\u001b[1;31mred\u001b[0m [32m]", "red [32m]"],
  ["colours with colons", "\u001b[38:2::1:2:3mred\u001b[>4;2m", "red"],
  ["erased lines and moves", "\u001b[2K\u001b[1Gdone\u001b[?25h", "done"],
  ["the one-character form of ESC [", "\u009b31mred\u009bm", "red"],
  ["links", "\u001b]8;;https://example.com\u001b\\link\u001b]8;;\u0007", "link"],
  ["titles", "\u001b]0;owned\u0007title", "title"],
  [
    "device strings",
    "\u001bP1$r0m\u001b\\a\u001b_Gi=1\u001b\\b\u001b^x\u001b\\c\u001bXx\u001b\\d",
    "abcd",
  ],
  ["character sets and keypads", "\u001b(B\u001b=plain\u001b7\u001bM", "plain"],
  ["control characters", "a\u0000b\bc\u007fd\u0085e", "abcde"],
])("plainText removes %s", (_what, written, text) => expect(plainText(written)).toBe(text));

test.each([
  ["a colour", "red\u001b[38;5", "red"],
  [
    "a colour before a note",
    "red\u001b[3… (cut, 40000 characters)",
    "red… (cut, 40000 characters)",
  ],
  ["a title", "\u001b]0;a title\nnext", "\nnext"],
  ["an escape", "text\u001b", "text"],
])(
  "plainText drops %s that was cut off at the end, and keeps other lines",
  (_what, written, text) => expect(plainText(written)).toBe(text),
);

test("plainText keeps the text after control characters that come from UTF-8 read as Latin-1", () =>
  expect(plainText("â\u0080\u009dquoted")).toBe("âquoted"));

test("plainText of a line that was overwritten, as by a progress bar, is the last text", () => {
  expect(plainText("one\r\ntwo\r\n")).toBe("one\ntwo\n");
  expect(plainText("10%\r50%\r100%\ndone\r")).toBe("100%\ndone");
  expect(plainText("10%\r\u001b[K100%\r\u001b[K")).toBe("100%");
});

test.each(["\u001b", "\u001b[", "\u001b]", "\u009d", "\u001b]\u009d", "\u001b[1;", "\r"])(
  "plainText of a megabyte of %j takes linear time",
  (part) => {
    const text = part.repeat(1_000_000 / part.length);
    const startedAt = performance.now();
    expect(plainText(`${text}x`).length).toBeLessThanOrEqual(text.length + 1);
    // A quadratic pattern takes minutes.
    expect(performance.now() - startedAt).toBeLessThan(60_000);
  },
);
