import { textAt } from "./json.ts";
import type { Json } from "./json.ts";
import { partsOf } from "./provider-side.ts";
import type { ProviderSideRules } from "./wire-api.ts";

/**
 * More bytes of text than any image has tokens for: 16,000 of them at three bytes each. Providers count an image by its
 * size on the screen, a few thousand tokens at most, however many bytes its data has.
 */
const mostImageBytes = 48_000;

/** Bytes of a request by which its tokens are estimated: of an image no more than it can cost. */
export function countedBytes(
  body: { readonly json: Json; readonly bytes: number },
  rules: ProviderSideRules,
): number {
  let counted = body.bytes;
  for (const part of partsOf(body.json, rules)) {
    counted -= Math.max(0, imageDataOf(part).length - mostImageBytes);
  }
  return counted;
}

/** The data of an image as its API has it; empty for any other part. A text that looks like one is a text. */
function imageDataOf(part: Json): string {
  const type =
    textAt(part, "media_type") ?? textAt(part, "mimeType") ?? textAt(part, "mime_type") ?? "";
  if (type.startsWith("image/")) return textAt(part, "data") ?? "";
  const address = textAt(part, "image_url") ?? textAt(part, "url") ?? "";
  return address.startsWith("data:image/") ? address : "";
}
