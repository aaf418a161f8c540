import { shortestHidden } from "./secret-forms.ts";

/** Bits of a hash of four characters, of which each next one moves the others on by four bits. */
const slots = 0x10000;
const step = 4;

/**
 * Finds known texts in others. Adding, removing and finding cost the same however many are known: thousands of runs may
 * live, and each of them has secrets of its own. None is shorter than `shortestHidden`.
 */
export class TextIndex {
  /** By their first characters, longest first: one that begins another one must not win. */
  readonly #byStart = new Map<string, string[]>();
  /** How many starts there are with a hash of their first four characters: a text is mostly looked up nowhere else. */
  readonly #hashes = new Uint32Array(slots);

  add(text: string): void {
    const start = startOf(text);
    const texts = this.#byStart.get(start);
    if (texts === undefined) {
      this.#byStart.set(start, [text]);
      this.#count(start, 1);
    } else {
      texts.push(text);
      texts.sort((a, b) => b.length - a.length);
    }
  }

  remove(text: string): void {
    const start = startOf(text);
    const left = this.#byStart.get(start)?.filter((each) => each !== text) ?? [];
    if (left.length > 0) this.#byStart.set(start, left);
    else if (this.#byStart.delete(start)) this.#count(start, -1);
  }

  /** The text with `mark` for each known one in it, from left to right. */
  replace(text: string, mark: string): string {
    if (this.#byStart.size === 0) return text;
    let replaced = "";
    let copied = 0;
    let hash = 0;
    for (let end = 0; end < text.length; end += 1) {
      hash = next(hash, text, end);
      const start = end - step + 1;
      if (start < copied || this.#hashes[hash] === 0) continue;
      const found = this.#at(text, start);
      if (found === 0) continue;
      replaced += text.slice(copied, start) + mark;
      copied = start + found;
      end = copied - 1;
    }
    return copied === 0 ? text : replaced + text.slice(copied);
  }

  /** The length of the known text that stands there; 0 when there is none. */
  #at(text: string, start: number): number {
    const texts = this.#byStart.get(text.slice(start, start + shortestHidden));
    return texts?.find((each) => text.startsWith(each, start))?.length ?? 0;
  }

  #count(start: string, change: 1 | -1): void {
    let hash = 0;
    for (let end = 0; end < step; end += 1) hash = next(hash, start, end);
    this.#hashes[hash] = (this.#hashes[hash] ?? 0) + change;
  }
}

function startOf(text: string): string {
  return text.slice(0, shortestHidden);
}

function next(hash: number, text: string, index: number): number {
  return ((hash << step) ^ text.charCodeAt(index)) & (slots - 1);
}
