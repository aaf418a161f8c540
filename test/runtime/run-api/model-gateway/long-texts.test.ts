import fc from "fast-check";
import { LongTexts } from "../../../../src/runtime/run-api/model-gateway/request-body.ts";
import { isAddress } from "../../../../src/runtime/run-api/model-gateway/provider-side.ts";

const head = fc.constantFrom(
  "",
  "data:image/png;base64,",
  "https://a.test/",
  "  //a.test/",
  'a"',
  "\\",
  "é中",
  "\n",
);
const piece = fc.constantFrom("A", "+/=", "é", "\\", '"', "\u0001", " ", "{},");
/** Of lengths about that from which a text is long. */
const text = fc
  .tuple(head, piece, fc.constantFrom(0, 3, 16_000, 16_381, 16_382, 20_000))
  .map(([start, one, length]) => start + one.repeat(Math.ceil(length / one.length)));
const document = fc.dictionary(
  fc.oneof(fc.constantFrom("a", "url", '"'), text),
  fc.oneof(
    text,
    fc.array(text, { maxLength: 3 }),
    fc.jsonValue(),
    fc.dictionary(fc.string(), text, { maxKeys: 2 }),
  ),
  { maxKeys: 4 },
);

test("LongTexts replaces long strings in JSON and restores them unchanged", () =>
  fc.assert(
    fc.property(document, fc.nat(2), (value, indent) => {
      const json = JSON.stringify(value, null, indent);
      const texts = new LongTexts();
      const parsed: unknown = JSON.parse(texts.takeOut(Buffer.from(json)).toString());
      const pieces = texts.putBack(Buffer.from(JSON.stringify(parsed)));
      expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual(JSON.parse(json));
    }),
    { numRuns: 200 },
  ));

test("LongTexts replaces a URL or data: URL by a short URL of the same kind", () => {
  fc.assert(
    fc.property(text, (one) => {
      const texts = new LongTexts();
      const { url } = JSON.parse(
        texts.takeOut(Buffer.from(JSON.stringify({ url: one }))).toString(),
      ) as { url: string };
      // A text that an escape or a letter of another script is in is checked as an address rather than not.
      if (isAddress(one)) expect(isAddress(url)).toBe(true);
      if (/^[\x20-\x7e]*$/.test(one) && !/["\\]/.test(one)) {
        expect(url.startsWith("data:")).toBe(one.startsWith("data:"));
        expect(texts.lengthOf(url)).toBeGreaterThanOrEqual(one.length);
        expect(url.length).toBeLessThan(16_384);
      }
    }),
  );
});
