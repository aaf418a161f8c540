import fc from "fast-check";

/** A secret with characters that encoders treat differently. */
export const secretText = fc
  .string({
    unit: fc.constantFrom(...Array.from(`Ab0/+"\\&<é =%'~(`)),
    minLength: 2,
    maxLength: 40,
  })
  .map((middle) => `k9Z${middle}Q4x`);

const bytes = (text: string) => Buffer.from(text);
const unicode = (text: string, chars: RegExp) =>
  text.replaceAll(chars, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const inBase64 = (before: string) => (text: string) => {
  const whole = bytes(`${before}${text}`).toString("base64");
  return whole.slice(
    Math.ceil((before.length * 4) / 3),
    Math.floor((bytes(before + text).length * 4) / 3),
  );
};
/** How programs write a text, by other means than the program under test. */
export const encoders: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  reversed: (text) => Array.from(text).reverse().join(""),
  hex: (text) => bytes(text).toString("hex"),
  HEX: (text) => bytes(text).toString("hex").toUpperCase(),
  json,
  "json with \\/": (text) => json(text).replaceAll("/", "\\/"),
  "json of PHP": (text) => unicode(json(text).replaceAll("/", "\\/"), /[^\x20-\x7e]/g),
  "json of Go": (text) => unicode(json(text), /[<>&]/g),
  "json in \\u only": (text) => unicode(text, /[^]/g),
  "json in json": (text) => json(json(text)),
  url: encodeURIComponent,
  "url in lower case": (text) =>
    encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  "url of a form": (text) => new URLSearchParams({ a: text }).toString().slice(2),
  "url in % only": (text) => bytes(text).toString("hex").replaceAll(/../g, "%$&"),
  "base64 at 0": inBase64(""),
  "base64 at 1": inBase64("x"),
  "base64 at 2": inBase64("xy"),
  base64url: (text) => bytes(text).toString("base64url"),
};
