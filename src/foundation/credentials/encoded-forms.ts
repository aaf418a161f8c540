import { escapeHtml } from "../contracts/plain-text.ts";

/** Shorter values are not hidden: replacing every `12345` would shred the text and hide nothing. */
export const shortestHidden = 6;

/**
 * A value in the forms in which programs write it: as it is, in other case, backwards, in hex, base64 (also inside of a
 * longer base64 text, such as a Basic authorization), JSON, JSON in JSON, URLs and HTML. Always as many forms in the
 * same order; many of them are often the same.
 */
export function encodedForms(value: string): string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const json = jsonForms(value);
  return [
    value,
    value.toUpperCase(),
    value.toLowerCase(),
    Array.from(value).reverse().join(""),
    hex,
    hex.toUpperCase(),
    ...base64Forms(bytes),
    ...json,
    // Without the forms that escape each character.
    ...json.slice(0, -4).map(inJson),
    ...urlForms(value),
    escapeHtml(value),
  ];
}

/** The whole in Base64, and for each of three offsets the part that does not depend on the bytes around it. */
export function base64Forms(bytes: Buffer): string[] {
  const inner = [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const first = Math.ceil((offset * 8) / 6);
    return shifted.slice(first, Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const forms = [bytes.toString("base64"), ...inner];
  return forms.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

/**
 * Characters that encoders write as `\u` and four digits: none, all non-ASCII, `<` (in a run's prompt), those special in
 * HTML, all.
 */
const jsonEscaped = [
  /[]/g,
  /[^\x20-\x7e]/g,
  /</g,
  /[<>&\u2028\u2029]/g,
  /\\?["'<>&+`]|[^\x20-\x7e]/g,
  /[^]/g,
];

function jsonForms(value: string): string[] {
  return jsonEscaped.flatMap((escaped) => {
    const text = escaped.source === "[^]" ? value : inJson(value);
    const lower = text.replaceAll(escaped, (chars) => `\\u${codeOf(chars, 4)}`);
    const upper = text.replaceAll(escaped, (chars) => `\\u${codeOf(chars, 4).toUpperCase()}`);
    return [lower, upper].flatMap((form) => [form, form.replaceAll("/", "\\/")]);
  });
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Characters that encoders don't escape: `encodeURIComponent`, RFC 3986, the same in a path, forms, none. */
const urlPlain = [/[\w.!~*'()-]/, /[\w.~-]/, /[\w.~/-]/, /[\w.*-]/, /[]/];

function urlForms(value: string): string[] {
  return urlPlain.flatMap((plain) => {
    const lower = Array.from(value, (char) => (plain.test(char) ? char : percentCodes(char))).join(
      "",
    );
    const upper = lower.replaceAll(/%../g, (code) => code.toUpperCase());
    return [lower, upper].flatMap((form) => [form, form.replaceAll("%20", "+")]);
  });
}

function percentCodes(char: string): string {
  return Buffer.from(char).toString("hex").replaceAll(/../g, "%$&");
}

/** The code of the last UTF-16 unit, in hex. */
function codeOf(chars: string, digits: number): string {
  return chars
    .charCodeAt(chars.length - 1)
    .toString(16)
    .padStart(digits, "0");
}

/** Hex digits of bytes in private characters that stand for them: words that look like bytes in groups must not match. */
export function inHexDigits(hex: string): string {
  return hex.replace(/./g, (one) => String.fromCharCode(0xe000 + Number.parseInt(one, 16)));
}
