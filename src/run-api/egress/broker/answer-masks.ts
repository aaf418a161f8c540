import type { SecretBinding } from "../../../contracts/egress.ts";
import { maskOf } from "../../masked-bytes.ts";
import type { Mask } from "../../masked-bytes.ts";

/** Shorter ones are found in any text. */
const shortest = 6;

/**
 * Masks for what a host might answer with of a secret: as it is, in JSON, in a URL, and inside of base64, such as basic
 * authentication. What the run reads there is the sentinel in the same form.
 */
export function answerMasks(bindings: readonly SecretBinding[]): readonly Mask[] {
  const masks = bindings.flatMap(({ secret, sentinel }) => {
    const standIn = sentinel
      .slice(0, Buffer.byteLength(secret))
      .padEnd(Buffer.byteLength(secret), "*");
    const puts = formsOf(standIn);
    return formsOf(secret).map((form, index) => maskOf(form, puts[index]));
  });
  const long = masks.filter(({ find }) => find.length >= shortest);
  // A form that is part of another one must not win.
  const sorted = long.sort((a, b) => b.find.length - a.find.length);
  return [...new Map(sorted.map((mask) => [mask.find.toString("latin1"), mask])).values()];
}

/** Always the same ones in the same order. */
function formsOf(text: string): string[] {
  const inner = [0, 1, 2].map((offset) => innerBase64(Buffer.from(text), offset));
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()),
    ...inner,
    ...inner.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}

/** What stays the same in base64 whatever stands around, when so many bytes too many stand before. */
function innerBase64(bytes: Buffer, offset: number): string {
  const shifted = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  const first = Math.ceil((offset * 8) / 6);
  return shifted.slice(first, Math.floor(((offset + bytes.length) * 8) / 6));
}
