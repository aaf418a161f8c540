const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
/** A new name takes a parser as long as several values. */
const valuesOfKey = 4;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** In ASCII, `[` and `{` differ only in this bit, as do `]` and `}`. */
const braceBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/**
 * Counts the values of JSON text and their depth without parsing it: a parsed value may take twenty times its bytes. The
 * text comes in UTF-8, in pieces cut anywhere, or as the lines of an event stream. Invalid JSON has at least the values
 * that a parser creates before it fails.
 */
export class JsonSize {
  /** Objects, lists, texts, numbers and the like so far; a key counts as four, an empty object or list as two. */
  values = 1;
  /** Depth of the deepest object or list so far, 1 for the outermost. */
  depth = 0;
  #level = 0;
  #isInText = false;
  #isEscaped = false;

  /** Adds a piece. Beyond `maxValues` its rest is skipped; no text is deeper than its number of values. */
  push(bytes: Uint8Array, maxValues = Infinity): this {
    let at = 0;
    while (at < bytes.length && this.values <= maxValues) {
      at = this.#isInText ? this.#passText(bytes, at) : this.#passStructure(bytes, at, maxValues);
    }
    return this;
  }

  /** The index after the end of a text, of its line (JSON has no line break in a text), or of the piece. */
  #passText(bytes: Uint8Array, start: number): number {
    let at = this.#isEscaped && !isBreak(bytes[start]) ? start + 1 : start;
    while (at < bytes.length && bytes[at] !== quote && !isBreak(bytes[at])) {
      at += bytes[at] === backslash && !isBreak(bytes[at + 1]) ? 2 : 1;
    }
    this.#isEscaped = at > bytes.length;
    this.#isInText = at >= bytes.length;
    return at + 1;
  }

  /** The index of the next text, or after the piece or too many values. */
  #passStructure(bytes: Uint8Array, start: number, maxValues: number): number {
    let [at, values, level] = [start, this.values, this.#level];
    for (; at < bytes.length && bytes[at] !== quote && values <= maxValues; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === comma) values += 1;
      else if (byte === colon) values += valuesOfKey;
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

function isBreak(byte: number | undefined): boolean {
  return byte === lineFeed || byte === carriageReturn;
}

/** The value of a JSON text; undefined if the text isn't JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object with named fields, not a list. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** No real value nests deeper; one that does may be meant to exhaust the stack. */
const maxDepth = 32;

/**
 * A JSON-like value with all its texts changed, its keys too; the value itself stays as it is. A value nested deeper
 * than 32 levels, or holds itself, is replaced by a text such as `[too deep]`.
 */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  return mapped(value, change, []);
}

/** `parents` are the objects that hold this one. */
function mapped(value: unknown, change: (text: string) => string, parents: object[]): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (parents.includes(value)) return "[circular]";
  if (parents.length >= maxDepth) return "[too deep]";
  const inside = [...parents, value];
  const next = (inner: unknown): unknown => mapped(inner, change, inside);
  if (Array.isArray(value)) return value.map(next);
  if (value instanceof Error) return next(plainError(value));
  if (hasToJson(value)) return next(value.toJSON());
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [change(key), next(inner)]),
  );
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

/** An error's texts are not among its own enumerable keys. */
function plainError(error: Error): object {
  const { name, message, stack, cause } = error;
  return {
    ...Object.fromEntries(Object.entries(error)),
    name,
    message,
    stack,
    ...(cause === undefined ? {} : { cause }),
  };
}
