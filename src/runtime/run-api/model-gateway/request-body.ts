import { isUtf8 } from "node:buffer";
import type { Release } from "../shares.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import { at, isObject, mostTokens } from "./json.ts";
import type { Json } from "./json.ts";
import { LongTexts } from "./long-texts.ts";

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
    const message = `the body has more than ${most} MiB beside its images and other long texts without escapes`;
    throw badRequest(413, message);
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
  return new GatewayProblem(status, "bad_request", message);
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
  const message = `${path.join(".")} is not a whole number of tokens from ${least} to ${mostTokens}`;
  throw badRequest(400, message);
}
