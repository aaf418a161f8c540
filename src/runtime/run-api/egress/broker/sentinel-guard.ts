import { Transform } from "node:stream";
import type { TransformCallback } from "node:stream";
import { sentinelMark } from "../../../../foundation/contracts/sentinel.ts";
import { begun } from "../../masked-bytes.ts";

const mark = Buffer.from(sentinelMark);

/** Passes a body on until a sentinel begins in it: then it fails, before a byte of that leaves. */
export class SentinelGuard extends Transform {
  readonly #refusal: () => Error;
  #held: Buffer = Buffer.alloc(0);

  constructor(refusal: () => Error) {
    super();
    this.#refusal = refusal;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    if (bytes.includes(mark)) return done(this.#refusal());
    const end = bytes.length - begun(bytes, mark);
    this.#held = bytes.subarray(end);
    done(null, bytes.subarray(0, end));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#held);
  }
}
