import { textAt } from "./json.ts";
import type { Json } from "./json.ts";
import type { RequestBody } from "./request-body.ts";
import { objectsOf } from "./request-shape.ts";
import type { Objects } from "./request-shape.ts";

/**
 * More bytes of text than any image has tokens for: 16,000 of them at three bytes each. Providers count an image by its
 * size on the screen, a few thousand tokens at most, however many bytes its data has.
 */
const mostImageBytes = 48_000;

/** Bytes of a request by which its tokens are estimated: of an image no more than it can cost. */
export function countedBytes(
  json: Json,
  body: Pick<RequestBody, "bytes" | "lengthOf">,
  request: Objects,
): number {
  let counted = body.bytes;
  for (const [part] of objectsOf(json, request)) {
    counted -= Math.max(0, body.lengthOf(imageDataOf(part)) - mostImageBytes);
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
