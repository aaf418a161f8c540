const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
/** In ASCII, `[` and `{` differ in this bit alone, as `]` and `}` do. */
const braceBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/**
 * Counts the values of JSON text and how deep they nest, without parsing it: a parsed value may take twenty times its
 * bytes. The text comes in UTF-8, in pieces cut anywhere. Text that is not JSON has at least the values that a parser
 * makes of it before it fails.
 */
export class JsonSize {
  /** Objects, lists, keys, texts, numbers and the like so far; an empty object or list counts as two. */
  values = 1;
  /** How deep the deepest object or list is, 1 for the outermost. */
  depth = 0;
  #level = 0;
  #isInText = false;
  #isEscaped = false;

  /** Adds a piece. Beyond `maxValues` the rest of it is not looked at; no text is deeper than it has values. */
  push(bytes: Uint8Array, maxValues = Infinity): this {
    let at = 0;
    while (at < bytes.length && this.values <= maxValues) {
      at = this.#isInText ? this.#passText(bytes, at) : this.#passStructure(bytes, at, maxValues);
    }
    return this;
  }

  /** The index after the end of a text, or of the piece. */
  #passText(bytes: Uint8Array, start: number): number {
    let at = this.#isEscaped ? start + 1 : start;
    while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
    this.#isEscaped = at > bytes.length;
    this.#isInText = at >= bytes.length;
    return at + 1;
  }

  /** The index in the next text, or after the piece or too many values. */
  #passStructure(bytes: Uint8Array, start: number, maxValues: number): number {
    let [at, values, level] = [start, this.values, this.#level];
    for (; at < bytes.length && bytes[at] !== quote && values <= maxValues; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === comma || byte === colon) values += 1;
      else if ((byte | braceBit) === opening) {
        values += 1;
        level += 1;
        if (level > this.depth) this.depth = level;
      } else if ((byte | braceBit) === closing) level -= 1;
    }
    [this.values, this.#level] = [values, level];
    this.#isInText = bytes[at] === quote && values <= maxValues;
    return at + 1;
  }
}
