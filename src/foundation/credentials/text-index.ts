import { base64Forms, encodedForms, inHexDigits, shortestHidden } from "./encoded-forms.ts";

/** Values of a hash of five characters; each character shifts the others by four bits. */
const slots = 0x100000;
const step = 4;
const tab = 0x09;

/** Range of a known text: its first index, and the one after its last. */
export type Range = [start: number, end: number];

export interface Found {
  /** From left to right; texts that overlap are one range. */
  ranges: Range[];
  /** Index of a known text that is cut off at the end; the text's length if no known text is. */
  begun: number;
  /** As `begun`, for a text of which at least half is there. */
  halfBegun: number;
}

/**
 * Finds known texts in others. Adding, removing and finding cost the same for any number of them: thousands of runs may
 * live, each with its own secrets. None is shorter than `shortestHidden`.
 */
export class TextIndex {
  /** By their first characters, longest first: a prefix of another must not win. */
  readonly #byStart = new Map<string, string[]>();
  /** Number of starts with a hash: most characters of a text need no other lookup. */
  readonly #hashes = new Uint16Array(slots);

  add(text: string): void {
    const start = startOf(text);
    const texts = this.#byStart.get(start);
    if (texts === undefined) {
      this.#byStart.set(start, [text]);
      this.#count(start, 1);
    } else {
      const at = texts.findIndex(({ length }) => length < text.length);
      texts.splice(at === -1 ? texts.length : at, 0, text);
    }
  }

  remove(text: string): void {
    const start = startOf(text);
    const left = this.#byStart.get(start)?.filter((each) => each !== text) ?? [];
    if (left.length > 0) this.#byStart.set(start, left);
    else if (this.#byStart.delete(start)) this.#count(start, -1);
  }

  /** Null for a text with characters other than visible ASCII, spaces and tabs, unless `anyText`. */
  find(text: string, anyText: true): Found;
  find(text: string, anyText: boolean): Found | null;
  find(text: string, anyText: boolean): Found | null {
    const found: Found = { ranges: [], begun: text.length, halfBegun: text.length };
    const hashes = this.#hashes;
    let hash = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (!anyText && (code < 0x20 || code > 0x7e) && code !== tab) return null;
      hash = next(hash, code);
      if (hashes[hash] !== 0) this.#look(text, at - shortestHidden + 1, found);
    }
    return found;
  }

  /** Adds the matches at `start`. */
  #look(text: string, start: number, found: Found): void {
    const texts = this.#byStart.get(text.slice(Math.max(0, start), start + shortestHidden));
    if (texts === undefined) return;
    const whole = texts.find((each) => text.startsWith(each, start));
    const last = found.ranges.at(-1);
    if (whole !== undefined) {
      const end = start + whole.length;
      if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
      else found.ranges.push([start, end]);
    }
    const left = text.length - start;
    if (left >= (texts[0]?.length ?? 0)) return;
    const begun = texts
      .filter(({ length }) => length > left)
      .filter((each) => each.startsWith(text.slice(start)));
    if (begun.length > 0) found.begun = Math.min(found.begun, start);
    if (begun.some(({ length }) => left * 2 >= length))
      found.halfBegun = Math.min(found.halfBegun, start);
  }

  #count(start: string, change: 1 | -1): void {
    let hash = 0;
    for (let end = 0; end < shortestHidden; end += 1) hash = next(hash, start.charCodeAt(end));
    this.#hashes[hash] = (this.#hashes[hash] ?? 0) + change;
  }
}

export interface TextPart {
  readonly text: string;
  readonly isSecret: boolean;
}

/** The parts of a text, in their order; those in the ranges are secrets. Ranges that overlap are one. */
export function splitAt(text: string, ranges: readonly Range[]): readonly TextPart[] {
  const all: Range[] = [];
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1);
    if (last === undefined || start >= last[1]) all.push([start, end]);
    else last[1] = Math.max(last[1], end);
  }
  let copied = 0;
  const parts = all.flatMap(([start, end]) => {
    const before = text.slice(copied, start);
    copied = end;
    return [
      { text: before, isSecret: false },
      { text: text.slice(start, end), isSecret: true },
    ];
  });
  return [...parts, { text: text.slice(copied), isSecret: false }];
}

/** The text with a mark for each range. */
export function marked(text: string, ranges: readonly Range[]): string {
  if (ranges.length === 0) return text;
  const parts = splitAt(text, ranges);
  return parts.map((part) => (part.isSecret ? "[redacted]" : part.text)).join("");
}

function startOf(text: string): string {
  return text.slice(0, shortestHidden);
}

function next(hash: number, code: number): number {
  return ((hash << step) ^ code) & (slots - 1);
}

/** A part of a secret file that is worth hiding by itself. */
const minLineLength = 16;

/**
 * The forms in which a secret may appear in text: its encoded forms, and those of its parts if it is a file, because
 * logs are read by line and tools print single values.
 */
export function secretForms(secret: string): string[] {
  const values = [secret, ...partsOf(secret)];
  return values
    .filter(({ length }) => length >= shortestHidden)
    .flatMap((value) => [
      ...encodedForms(value),
      ...base64Forms(Buffer.from(value, "utf16le")),
      inHexDigits(Buffer.from(value).toString("hex")),
    ]);
}

/** Lines of a text that has several, with and without their `name:` or `name=`; values of a JSON document. */
function partsOf(secret: string): string[] {
  const texts = jsonTexts(secret);
  const lines = [secret, ...texts].flatMap((text) => {
    const several = text.split(/\r?\n/).map((line) => line.trim());
    return several.length > 1 ? several : [];
  });
  const values = lines.map((line) => line.replace(/^[\w."-]+\s*[:=]\s*/, ""));
  return [...new Set([...texts, ...lines, ...values])].filter(isTelling);
}

/** Excludes the first and last line of PEM files, which all share, and addresses, which are public. */
function isTelling(line: string): boolean {
  return line.length >= minLineLength && !/^(-----[A-Z ]+-----$|https?:\/\/[^@]*$)/.test(line);
}

/** Every text in a JSON object; empty if the secret is not one. */
function jsonTexts(secret: string): string[] {
  if (!/^\s*\{/.test(secret)) return [];
  try {
    const texts: string[] = [];
    JSON.parse(secret, (_key, value: unknown) => {
      if (typeof value === "string") texts.push(value);
      return value;
    });
    return texts;
  } catch {
    return [];
  }
}
