import { hexDigit } from "../contracts/encoded-forms.ts";
import type { Range, TextIndex } from "./text-index.ts";

/**
 * A text as a decoder reads it. Some encodings have too many forms for an index: each character of HTML has several, URLs
 * and JSON are escaped any number of times, and bytes in hex stand in groups.
 */
interface View {
  readonly shown: string;
  /** The part of the text in which a part of the view is encoded. */
  readonly partOf: (range: Range) => Range;
}

const shortestEncoded = 10;
/** One of them is in each code, but for bytes without a prefix. */
const marks = /[&\\%]|0x/;
const prefixed = /(?:\\|0)x[\da-f]{2}/i;

/** The text with a mark for each known text that is in one of its views. */
export function withoutEncoded(text: string, index: TextIndex, mark: string): string {
  if (text.length < shortestEncoded) return text;
  const isMarked = marks.test(text);
  const plain = isMarked ? hidden(text, unnested(text), index, mark) : text;
  const hasBytes = (isMarked && prefixed.test(plain)) || mayHaveGroups(plain);
  return hasBytes ? hidden(plain, bytesOf(plain), index, mark) : plain;
}

/** The parts of a text in which known texts are encoded, by one view after the other. */
export const encodedIn = (text: string, index: TextIndex): Range[] =>
  [unnested(text), bytesOf(text)].flatMap((view) => foundIn(text, view, index));

const foundIn = (text: string, { shown, partOf }: View, index: TextIndex): Range[] =>
  shown === text ? [] : index.find(shown, true).ranges.map(partOf);

function hidden(text: string, view: View, index: TextIndex, mark: string): string {
  let result = "";
  let copied = 0;
  for (const [start, end] of foundIn(text, view, index)) {
    result += text.slice(copied, start) + mark;
    copied = Math.max(copied, end);
  }
  return result + text.slice(copied);
}

const nested = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,12});|%(?:25)+|\\{2,}/gi;

/** Without HTML, and with one level of escapes of URLs and JSON. */
function unnested(text: string): View {
  /** The end of each code in the view, and how much longer the text is up to there. */
  const shifts: Range[] = [];
  let longer = 0;
  const shown = text.replace(nested, (part, at: number) => {
    const plain = decoded(part);
    shifts.push([at - longer + plain.length, (longer += part.length - plain.length)]);
    return plain;
  });
  const placeOf = (at: number): number => at + (shifts.findLast(([end]) => end <= at)?.[1] ?? 0);
  return { shown, partOf: ([from, to]) => [placeOf(from), placeOf(to)] };
}

function decoded(part: string): string {
  if (!part.startsWith("&")) return part.charAt(0);
  const [, hex, digits] = /^&#(?:x(.+)|(.+));$/i.exec(part) ?? [];
  if (hex === undefined && digits === undefined) return htmlNames.get(part.slice(1, -1)) ?? part;
  const number = hex === undefined ? Number(digits) : parseInt(hex, 16);
  return number <= 0x10ffff ? String.fromCodePoint(number) : part;
}

/** Characters that are neither letters nor digits, and their names (HTML, 13.5). */
const htmlNames: ReadonlyMap<string, string> = new Map(
  `! excl " quot # num $ dollar % percnt & amp ' apos ( lpar ) rpar * ast + plus , comma . period
  / sol : colon ; semi < lt = equals > gt ? quest @ commat [ lsqb [ lbrack \\ bsol ] rsqb ] rbrack ^ Hat
  _ lowbar \` grave { lcub { lbrace | verbar | vert } rcub } rbrace`
    .match(/\S \w+/g)
    ?.map((pair) => [pair.slice(2), pair.charAt(0)]),
);

/** Bytes with or without something between them: `43 41`, `43:41`, `\x43\x41`, `0x43, 0x41`, and `4341 4e41` of `xxd`. */
const groups = /(?:(?:0x|\\{1,4}x)?[\da-f]{2}[^\da-z\\]{0,80}){6,}/gi;
/** A line of `xxd`, `hexdump -C` or `od`: offset, bytes, and these as text. */
const dumpLine =
  /^([ \t]*(?:[\da-f]{4,16}(?::|[ \t](?=[ \t]))|[\da-f]{6,7}))((?:[ \t]{1,2}(?:[\da-f]{2}){1,8}(?!\S))+)([^\n]*)/gim;
const letterX = 0x78;
const [separator, letter, digit] = [1, 2, 3];
const longestWord = 4;
const kinds = new Uint8Array(0x10000);
for (const char of "abcdefABCDEF") kinds[char.charCodeAt(0)] = letter;
for (const char of "0123456789") kinds[char.charCodeAt(0)] = digit;
for (const char of " \t\r\n,:;-") kinds[char.charCodeAt(0)] = separator;

/** Never beyond the text: NaN as an index would slow down every later one. */
const kindAt = (text: string, at: number): number =>
  at >= 0 && at < text.length ? (kinds[text.charCodeAt(at)] ?? 0) : 0;

/** Six bytes have 17 characters, and bytes of ASCII a digit each: three of twelve characters are read of most texts. */
function mayHaveGroups(text: string): boolean {
  for (let at = 14; at < text.length; at += 12) {
    const [last, middle, first] = [kindAt(text, at), kindAt(text, at - 1), kindAt(text, at - 2)];
    if (last !== digit && middle !== digit && first !== digit) continue;
    if (last * middle * first === 0) continue;
    let start = at;
    while (at - start < longestWord && kindAt(text, start) > separator) start -= 1;
    // A hash, for example.
    if (kindAt(text, start) !== separator) continue;
    while (at - start < 40 && kindAt(text, start - 1) !== 0) start -= 1;
    const end = afterGroups(text, start);
    if (end === -1) return true;
    at = Math.max(at, end);
  }
  return false;
}

/** -1 for four bytes with the same character before each, which dates, times and UUIDs have not; else where they end. */
function afterGroups(text: string, start: number): number {
  let [size, lastSize, lastGap, same] = [0, 0, 0, 0];
  for (let at = start; ; at += 1) {
    const kind = kindAt(text, at);
    if (kind > separator) size += 1;
    else if (size > 0) {
      const gap = text.charCodeAt(at - size - 1);
      same = size === lastSize && gap === lastGap ? same + 1 : 1;
      if (size === 2 ? same === 4 : size === 4 && same === 2 && gap <= space) return -1;
      [lastSize, lastGap, size] = [size, gap, 0];
    }
    if (kind === 0) return at;
  }
}

const space = 0x20;

/** The digits of all groups. */
function bytesOf(text: string): View {
  const places: number[] = [];
  const bare = text.replace(
    dumpLine,
    (_line, offset: string, column: string, words: string) =>
      " ".repeat(offset.length) + column + " ".repeat(words.length),
  );
  for (const { 0: group, index } of bare.matchAll(groups)) {
    for (let at = index; at < index + group.length; at += 1) {
      const isPrefix = (bare.charCodeAt(at + 1) | 0x20) === letterX;
      if (kindAt(bare, at) > separator && !isPrefix) places.push(at);
    }
  }
  const digits = Uint16Array.from(places, (at) => hexDigit(bare.charCodeAt(at)));
  const shown = Buffer.from(digits.buffer).toString("utf16le");
  return {
    shown,
    partOf: ([from, to]) => {
      const end = (places[to - 1] ?? bare.length) + 1;
      const [rest = ""] = /^[^\n]*/.exec(bare.slice(end)) ?? [];
      // The last line of a dump has the end of the secret as text, too.
      return [places[from] ?? 0, rest.trim() === "" ? end + rest.length : end];
    },
  };
}
