import { IncomingMessage } from "node:http";

const smallBytes = 1024;
const blockBytes = 16 * 1024;
const empty = Buffer.alloc(0);

/**
 * A request that gathers small chunks of its body while they are not read: Node makes a Buffer of each, so that a body in
 * chunks of one byte takes 300 times its bytes.
 */
export class CompactRequest extends IncomingMessage {
  #block = empty;
  #filled = 0;
  #isWanted = false;

  override push(chunk: Buffer | null): boolean {
    if (chunk === null || chunk.length > smallBytes) {
      this.#flush();
      return super.push(chunk);
    }
    if (this.#filled + chunk.length > this.#block.length) {
      this.#flush();
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
    }
    this.#filled += chunk.copy(this.#block, this.#filled);
    // All that came in one read is gathered first.
    if (this.#isWanted) process.nextTick(() => this.#flush());
    this.#isWanted = false;
    return this.readableLength + this.#filled < this.readableHighWaterMark;
  }

  override _read(size: number): void {
    if (this.#filled > 0) this.#flush();
    else this.#isWanted = true;
    super._read(size);
  }

  #flush(): void {
    if (this.#filled === 0) return;
    const gathered = this.#block.subarray(0, this.#filled);
    this.#block = this.#block.subarray(this.#filled);
    this.#filled = 0;
    super.push(gathered);
  }
}
