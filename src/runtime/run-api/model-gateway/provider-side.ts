import { at, type Json } from "./json.ts";

/** Names of fields with a value that isn't listed as harmless; null and absence are always harmless. */
export function fieldNames(
  body: Json,
  fields: Readonly<Record<string, readonly unknown[]>>,
): readonly string[] {
  return Object.entries(fields)
    .filter(([name, harmless]) => !isHarmless(body[name], harmless))
    .map(([name]) => name);
}

function isHarmless(value: unknown, harmless: readonly unknown[]): boolean {
  if (value === undefined || value === null || harmless.includes(value)) return true;
  return Array.isArray(value) && value.length === 0;
}

/** `web_search_20250305`, `web_search_2025_08_26` and `web_search_preview` are all versions of `web_search`. */
export function unversioned(tool: string): string {
  return tool.replace(/_(preview|\d{8}|\d{4}_\d{2}_\d{2})(_.*)?$/, "");
}

/**
 * Whether a text is an address rather than data, which is a `data:` URL or plain base64. Servers parse addresses
 * differently (some ignore control characters), so every other text counts as an address.
 */
export function isAddress(value: unknown): boolean {
  return typeof value === "string" && !/^data:/i.test(value) && !/^[\w+/=\s-]*$/.test(value);
}

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
 * Kinds of content that a message part makes the provider fetch. Sources: the content parts of OpenAI's Chat
 * Completions and Responses references, Mistral's and OpenRouter's pages on documents, images and audio.
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
