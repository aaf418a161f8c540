import { inHexDigits } from "./encoded-forms.ts";
import { marked, type Range, type TextIndex } from "./text-index.ts";

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
/** One of them is in each code. */
const marks = /[&\\%]/;

/** The text with a mark for each known text that is in one of its views. */
export function withoutEncoded(text: string, index: TextIndex): string {
  if (text.length < shortestEncoded) return text;
  const plain = marks.test(text) ? hidden(text, unnested(text), index) : text;
  return hasBytes.test(plain) ? hidden(plain, bytesOf(plain), index) : plain;
}

/** The parts of a text in which known texts are encoded, by one view after the other. */
export const encodedIn = (text: string, index: TextIndex): Range[] =>
  [unnested(text), bytesOf(text)].flatMap((view) => foundIn(text, view, index));

const foundIn = (text: string, { shown, partOf }: View, index: TextIndex): Range[] =>
  shown === text ? [] : index.find(shown, true).ranges.map(partOf);

const hidden = (text: string, view: View, index: TextIndex): string =>
  marked(text, foundIn(text, view, index));

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
  if (!part.startsWith("&#")) return htmlNames.get(part.slice(1, -1)) ?? part;
  // A number in hex as "0x2F", in "&#x2F;", or with a leading zero as "047", in "&#47;".
  const number = Number(`0${part.slice(2, -1)}`);
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
  /^([ \t]*(?:[\da-f]{4,16}(?::|[ \t](?=[ \t]))|[\da-f]{6,7}))((?:[ \t]{1,2}(?:[\da-f]{2}){1,8}(?!\S))+)[^\n]*/gim;
/** Bytes with a prefix, four with the same between each, which dates, times and UUIDs have not, or two in words. */
const hasBytes =
  /[\\0]x[\da-f]{2}|[\da-f]([ \t\r\n,:;-]{1,4})(?:[\da-f]{2}\1){2}[\da-f]{2}|[\da-f]\s[\da-f]{4}\s[\da-f]{4}/i;

/** The digits of all groups. */
function bytesOf(text: string): View {
  const places: number[] = [];
  const bare = text.replace(dumpLine, (line, offset: string, column: string) =>
    column.padStart(offset.length + column.length).padEnd(line.length),
  );
  for (const { 0: group, index } of bare.matchAll(groups)) {
    for (const { index: at } of group.matchAll(/(?!0x)[\da-f]/gi)) places.push(index + at);
  }
  return {
    shown: inHexDigits(places.map((at) => bare.charAt(at)).join("")),
    partOf: ([from, to]) => {
      const end = (places[to - 1] ?? bare.length) + 1;
      // The last line of a dump has the end of the secret as text, too.
      const [blank = ""] = /^ *(?=\n|$)/.exec(bare.slice(end)) ?? [];
      return [places[from] ?? 0, end + blank.length];
    },
  };
}
