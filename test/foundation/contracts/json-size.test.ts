import fc from "fast-check";
import { JsonSize } from "../../../src/foundation/contracts/json-size.ts";

/** Counts a parsed value as the scan counts its text. */
function sizeOf(value: unknown): { values: number; depth: number } {
  if (typeof value !== "object" || value === null) return { values: 1, depth: 0 };
  const inner = Object.values(value).map(sizeOf);
  const keys = Array.isArray(value) ? 0 : 4 * inner.length;
  const values = inner.reduce((sum, one) => sum + one.values, keys + 1);
  const depth = 1 + Math.max(0, ...inner.map((one) => one.depth));
  return { values: inner.length === 0 ? 2 : values, depth };
}

function scan(text: string, pieceBytes = Infinity) {
  const size = new JsonSize();
  const bytes = Buffer.from(text);
  const step = Math.min(pieceBytes, bytes.length);
  for (let at = 0; at < bytes.length; at += step) size.push(bytes.subarray(at, at + step));
  return { values: size.values, depth: size.depth };
}

test("the measured size of JSON depends on its value only, not on spaces or chunks", () => {
  const hostileTexts = fc.string({ unit: fc.constantFrom('"', "\\", ",", "[", "}", ":", "é") });
  const json = fc.oneof(fc.jsonValue(), fc.dictionary(hostileTexts, fc.array(hostileTexts)));
  fc.assert(
    fc.property(json, fc.nat(3), fc.integer({ min: 1, max: 9 }), (value, indent, pieceBytes) => {
      expect(scan(JSON.stringify(value, null, indent), pieceBytes)).toEqual(sizeOf(value));
    }),
  );
});

test("measuring the size of JSON stops at a limit", () => {
  const [bytes, maxValues] = [Buffer.from(`{"a":${"[".repeat(1_000_000)}`), 100];
  const size = new JsonSize().push(bytes, maxValues).push(bytes, maxValues);
  expect(size).toMatchObject({ values: maxValues + 1, depth: maxValues - 4 });
});
