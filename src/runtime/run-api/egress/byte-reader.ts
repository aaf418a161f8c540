/** Its message says what is wrong, as the rest of a sentence about the connection. */
export class MalformedBytes extends Error {}

/** Reads numbers and vectors with lengths, as TLS has them; throws `MalformedBytes` beyond the end. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(count: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + count);
    if (taken.length < count) throw new MalformedBytes("a length in its hello is wrong");
    this.#at += count;
    return taken;
  }

  /** Big-endian, of 1 to 6 bytes. */
  number(bytes: number): number {
    return this.take(bytes).readUIntBE(0, bytes);
  }

  /** What follows a length of so many bytes. */
  vector(lengthBytes: number): ByteReader {
    return new ByteReader(this.take(this.number(lengthBytes)));
  }

  rest(): Buffer {
    return this.take(this.#bytes.length - this.#at);
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  assertEnd(): void {
    if (!this.isAtEnd()) throw new MalformedBytes("a length in its hello is wrong");
  }
}
