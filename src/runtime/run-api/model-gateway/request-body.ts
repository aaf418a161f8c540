import { isUtf8 } from "node:buffer";
import type { Release } from "../shares.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import { isObject } from "./json.ts";
import type { Json } from "./json.ts";
import { LongTexts } from "./long-texts.ts";

const mebibyte = 1024 * 1024;
/** What is parsed of a body: everything but its long texts. Two million tokens of text are less. */
const maxParsedBytes = 8 * mebibyte;
/** What a call holds beside its body: what its sockets hold back, and its objects. */
const callBytes = 256 * 1024;

/** The memory that a body of this length may take, in bytes: a part of it is there twice. */
export function memoryOf(length: number): number {
  return callBytes + length + Math.min(length, maxParsedBytes);
}

/** A request's body, held as bytes: parsed, it would take twenty times the memory while the call waits. */
export class RequestBody implements Disposable {
  /** As the client sent it. */
  readonly bytes: number;
  readonly #release: Release;
  #texts = new LongTexts();
  #document: Buffer;

  /** `release` gives back `memoryOf` its length. Throws a GatewayProblem. */
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

  /** Parses it. The result is not to be held while the call waits. Throws a GatewayProblem. */
  read(): Json {
    try {
      const json: unknown = JSON.parse(this.#document.toString("utf8"));
      if (isObject(json)) return json;
    } catch {
      // A parser's own words would quote the body.
    }
    throw badRequest(400, "the body is not a JSON object");
  }

  /**
   * Makes it what is sent. What was checked is what is sent: the client's own bytes may have a field twice, of which a
   * provider might take the other one.
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

  /** The provider has it: frees its memory. An answer takes minutes. */
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
  return new GatewayProblem({ status, code: "bad_request", message });
}
