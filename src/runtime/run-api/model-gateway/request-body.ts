import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { Release } from "../shares.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import { at, isObject, mostTokens, type Json } from "../../wire/json.ts";

const mebibyte = 1024 * 1024;
/** The most bytes of a body that are parsed, long texts excluded. Two million tokens of text fit. */
const maxParsedBytes = 8 * mebibyte;
/** Memory of a call besides its body, in bytes: socket buffers and objects. */
const callBytes = 256 * 1024;

/** The memory that a body of this length may take, in bytes; its parsed part is held twice. */
export function memoryOf(length: number): number {
  return callBytes + length + Math.min(length, maxParsedBytes);
}

/** A request's body, held as bytes: parsed, it would take twenty times the memory while the call waits. */
export class RequestBody implements Disposable {
  /** Length of the body as the client sent it. */
  readonly bytes: number;
  readonly #release: Release;
  #texts = new LongTexts();
  #document: Buffer;

  /** `release` returns the reserved `memoryOf(bytes.length)`. Throws a GatewayProblem for an invalid body. */
  constructor(bytes: Buffer, release: Release) {
    this.bytes = bytes.length;
    this.#release = release;
    if (!isUtf8(bytes)) throw badRequest(400, "the body is not UTF-8");
    this.#document = this.#texts.takeOut(bytes);
    if (this.#document.length <= maxParsedBytes) return;
    const most = maxParsedBytes / mebibyte;
    throw badRequest(
      413,
      `the body has more than ${most} MiB in addition to its images and other long texts without escapes`,
    );
  }

  /** Parses the body. Callers must not hold the result while the call waits. Throws a GatewayProblem. */
  read(): Json {
    try {
      const json: unknown = JSON.parse(this.#document.toString("utf8"));
      if (isObject(json)) return json;
    } catch {
      // The parser's message would quote the body.
    }
    throw badRequest(400, "the body is not a JSON object");
  }

  /**
   * Replaces the body by the checked one. The client's bytes are not sent: if a field occurs twice, the provider might
   * read another one than the gateway checked.
   */
  write(json: Json): void {
    this.#document = Buffer.from(JSON.stringify(json));
  }

  /** The length of a text of the parsed body. */
  lengthOf(text: string): number {
    return this.#texts.lengthOf(text);
  }

  pieces(): readonly Buffer[] {
    return this.#texts.putBack(this.#document);
  }

  /** Frees the memory once the provider has the body: an answer takes minutes. */
  free(): void {
    this.#texts = new LongTexts();
    this.#document = Buffer.alloc(0);
    this.#release(memoryOf(this.bytes) - callBytes);
  }

  [Symbol.dispose](): void {
    this.free();
    this.#release();
  }
}

export function badRequest(status: number, message: string): GatewayProblem {
  return new GatewayProblem("bad_request", message, { status });
}

/**
 * The number of tokens at a path of a request; null if it is missing. Throws a GatewayProblem for values that servers
 * interpret differently, such as "5", 0.5 and -1: the provider must apply the limit that was reserved.
 */
export function tokensAt(body: Json, least: number, ...path: readonly string[]): number | null {
  const found = at(body, ...path) ?? null;
  if (found === null) return null;
  const isCount = typeof found === "number" && Number.isInteger(found);
  if (isCount && found >= least && found <= mostTokens) return found;
  throw badRequest(
    400,
    `${path.join(".")} is not a whole number of tokens from ${least} to ${mostTokens}`,
  );
}

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
