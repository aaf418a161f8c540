import { Transform, type TransformCallback } from "node:stream";
import { sentinelMark } from "../../../../foundation/credentials/broker-credentials.ts";
import { begun } from "../../masked-bytes.ts";
import type { IncomingMessage } from "node:http";
import { EgressRefusal, type Authority } from "../decide.ts";
import { substituted } from "./substitute.ts";

const mark = Buffer.from(sentinelMark);

/** Forwards a body, and fails before the first byte of a sentinel leaves. */
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

/** Throws an `EgressRefusal` if the head of a request without TLS holds a sentinel: secrets never leave without TLS. */
export function assertNoSentinel({ rawHeaders }: IncomingMessage, asked: Authority, url: string) {
  substituted(
    { host: asked.host, url, rawHeaders },
    [],
    (where) => new EgressRefusal("sentinel", asked, `in ${where}`),
  );
}
