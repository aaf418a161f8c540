import fc from "fast-check";
import { lineSplitter } from "../../../src/runtime/wire/lines.ts";

function split(chunks: readonly Buffer[], maxBytes = 1000) {
  const lines: [string, boolean][] = [];
  const splitter = lineSplitter(maxBytes, (line, cut) => lines.push([line, cut]));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

test("the line splitter finds the same lines for any split of the bytes into chunks", () => {
  const lines = fc.array(fc.string({ unit: "binary" }).map((text) => text.replace(/[\r\n]/g, "")));
  fc.assert(
    fc.property(lines, fc.array(fc.nat(50)), (texts, sizes) => {
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
      const chunks: Buffer[] = [];
      let start = 0;
      for (const size of sizes) {
        chunks.push(bytes.subarray(start, start + size));
        start += size;
      }
      chunks.push(bytes.subarray(start));
      const expected = texts.map((text) => Buffer.from(text).toString("utf8"));
      expect(split(chunks).map(([line]) => line)).toEqual(expected);
    }),
  );
});

test("the line splitter accepts CRLF, empty lines and a last line without a line end", () =>
  expect(split([Buffer.from("a\r\n\nb")]).map(([line]) => line)).toEqual(["a", "", "b"]));

test("the line splitter cuts a long line and continues with the next line", () =>
  expect(split([Buffer.from("abcd"), Buffer.from("efgh\nij\n")], 5)).toEqual([
    ["abcde", true],
    ["ij", false],
  ]));
