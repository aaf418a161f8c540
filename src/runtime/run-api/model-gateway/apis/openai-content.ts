import { at } from "../json.ts";
import type { Json } from "../json.ts";
import { isAddress } from "../provider-side.ts";

/** Fields of a part that hold an address or data, as a text or as the `url` of an object. */
const addressFields = [
  "image_url",
  "video_url",
  "audio_url",
  "document_url",
  "file_url",
  "input_audio",
];

/**
 * What a part of a message makes the provider fetch. Sources: the content parts of OpenAI's Chat Completions and
 * Responses references, Mistral's and OpenRouter's pages on documents, images and audio.
 */
export function openaiContentNames(part: Json): readonly string[] {
  const addresses = addressFields.flatMap((field) => [part[field], at(part, field, "url")]);
  const data = [part.file_data, at(part, "file", "file_data"), at(part, "input_audio", "data")];
  const ids = [part.file_id, at(part, "file", "file_id")];
  return [
    ...([...addresses, ...data].some(isAddress) ? ["url"] : []),
    ...(ids.some((id) => (id ?? null) !== null) ? ["file"] : []),
  ];
}
