import { shortestHidden } from "../../foundation/credentials/encoded-forms.ts";

/** A replacement for bytes, of the same length, so that announced lengths stay right. */
export interface Mask {
  readonly find: Buffer;
  readonly put: Buffer;
}

/** A mask for a text; `put` is truncated, or padded with stars, to the text's length. */
export function maskOf(text: string, put = ""): Mask {
  const find = Buffer.from(text);
  const filled = Buffer.alloc(find.length, "*");
  filled.set(Buffer.from(put).subarray(0, find.length));
  return { find, put: filled };
}

/** Each mask once, without those too short to be secret. Longest first: a form may be part of another one. */
export function distinctMasks(masks: readonly Mask[]): readonly Mask[] {
  const long = masks.filter(({ find }) => find.length >= shortestHidden);
  const sorted = long.sort((a, b) => b.find.length - a.find.length);
  return [...new Map(sorted.map((mask) => [mask.find.toString("latin1"), mask])).values()];
}

/** Masks a stream of bytes. Holds back only the end of a chunk that could be the beginning of a mask. */
export async function* maskedBytes(
  body: AsyncIterable<Buffer>,
  masks: readonly Mask[],
): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    const bytes = masked(held.length === 0 ? chunk : Buffer.concat([held, chunk]), masks);
    const end = bytes.length - Math.max(0, ...masks.map(({ find }) => begun(bytes, find)));
    held = bytes.subarray(end);
    if (end > 0) yield bytes.subarray(0, end);
  }
  if (held.length > 0) yield held;
}

/** Masks a header, each of whose characters stands for a byte. */
export function maskedHeader(text: string, masks: readonly Mask[]): string {
  return masked(Buffer.from(text, "latin1"), masks).toString("latin1");
}

/** Returns a masked copy, or the same bytes if no mask matches. The caller's bytes don't change. */
function masked(bytes: Buffer, masks: readonly Mask[]): Buffer {
  let copy: Buffer | null = null;
  for (const { find, put } of masks) {
    for (let at = bytes.indexOf(find); at !== -1; at = bytes.indexOf(find, at + 1)) {
      copy ??= Buffer.from(bytes);
      copy.set(put, at);
    }
  }
  return copy ?? bytes;
}

/** How many bytes at the end are an incomplete beginning of a pattern. */
export function begun(bytes: Buffer, pattern: Buffer): number {
  const first = pattern[0] ?? 0;
  const from = Math.max(0, bytes.length - pattern.length + 1);
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    const length = bytes.length - at;
    if (bytes.compare(pattern, 0, length, at) === 0) return length;
  }
  return 0;
}
