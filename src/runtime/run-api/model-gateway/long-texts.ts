import { randomBytes } from "node:crypto";

const [quote, backslash, colon, space] = [0x22, 0x5c, 0x3a, 0x20];
/** Minimum length of a long text, in bytes. */
const longText = 16 * 1024;
/** An address has a colon or a dot within this length, so that a text that begins without is data. */
const headLength = 64;

/**
 * The long texts of a JSON document, such as images in base64. They stay bytes: parsed and serialized, a text takes ten
 * times its bytes until the garbage is collected. The parsed document has a stand-in for each, with the same beginning.
 * Texts with escapes stay in the document, because only a parser can decode them.
 */
export class LongTexts {
  readonly #texts: Buffer[] = [];
  // Random: a client that guessed the mark could swap texts after the check.
  readonly #mark = randomBytes(16).toString("hex");

  /** The document with stand-ins. `bytes` are UTF-8, and must not change while this object lives. */
  takeOut(bytes: Buffer): Buffer {
    const pieces: Buffer[] = [];
    let passed = 0;
    for (const [start, end] of plainTexts(bytes)) {
      if (end - start < longText || isKey(bytes, end)) continue;
      pieces.push(bytes.subarray(passed, start), this.#standInFor(bytes.subarray(start, end)));
      passed = end;
    }
    return passed === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(passed)]);
  }

  /** The document to send, in pieces. */
  putBack(document: Buffer): readonly Buffer[] {
    if (this.#texts.length === 0) return [document];
    const standIn = new RegExp(`("[^"\\\\]{0,${headLength}}:?${this.#mark}x\\d+")`);
    const parts = document.toString("utf8").split(standIn);
    return parts.map((part) => this.#textOf(part) ?? Buffer.from(part));
  }

  /** The length of the text behind a text of the document. */
  lengthOf(text: string): number {
    return this.#textOf(`"${text}"`)?.length ?? text.length;
  }

  #textOf(standIn: string): Buffer | undefined {
    const [before, index = ""] = standIn.split(`${this.#mark}x`);
    return before === standIn ? undefined : this.#texts[Number.parseInt(index)];
  }

  #standInFor(text: Buffer): Buffer {
    const start = text.toString("latin1", 1, 1 + headLength);
    const [head = ""] = /^[\x20-\x7e]*/.exec(start) ?? [];
    const isData = /^[\w+/=-]+$/.test(start);
    const index = this.#texts.push(text) - 1;
    return Buffer.from(`"${head}${isData ? "" : ":"}${this.#mark}x${index}"`);
  }
}

/** The range of each text without escapes, including its quotes. */
function* plainTexts(bytes: Buffer): Generator<readonly [start: number, end: number]> {
  let escape = indexOf(bytes, backslash, 0);
  let end = 0;
  for (let start = bytes.indexOf(quote); start !== -1; start = bytes.indexOf(quote, end)) {
    end = indexOf(bytes, quote, start + 1) + 1;
    if (escape < start) escape = indexOf(bytes, backslash, start);
    if (escape > end) yield [start, end];
    else end = endOfText(bytes, start);
  }
}

function endOfText(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at + 1;
}

function indexOf(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}

function isKey(bytes: Buffer, end: number): boolean {
  let at = end;
  while ((bytes[at] ?? colon) <= space) at += 1;
  return bytes[at] === colon;
}
