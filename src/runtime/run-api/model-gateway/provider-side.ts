import { at, type Json } from "../../wire/json.ts";
import { json, list, object, one, orText, type Objects } from "./request-shape.ts";

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
  return tool.replace(/_(preview|\d{8}|\d{4}_\d{2}_\d{2})(_[^]*)?$/, "");
}

/**
 * Names of what a tool makes the provider do. `clientFields`, with spaces between, are the fields of tools of this type if the client runs
 * them: a lenient server may act on any other field, such as `server_url`, whatever the type.
 */
export function toolNames(
  tool: Json,
  type: string,
  clientFields: string | undefined,
): readonly string[] {
  if (clientFields === undefined) return [unversioned(type)];
  const known = clientFields.split(" ");
  return Object.keys(tool).filter((name) => (tool[name] ?? null) !== null && !known.includes(name));
}

const choices = new Set(["auto", "none", "required", "any", "tool", "allowed_tools"]);

/** The shape of `tool_choice`: an object that names one tool or the allowed ones, or a text, which `names` takes as a type. */
export function toolChoice(isClientTool: (type: string) => boolean): Objects {
  const names = ({ type }: Json) =>
    typeof type !== "string" || choices.has(type) || isClientTool(type) ? [] : [unversioned(type)];
  const fields = {
    ...one("type name mode server_label disable_parallel_tool_use"),
    ...json("function custom"),
  };
  const tools = list(fields, names);
  const allowed_tools = object({ ...one("mode"), tools });
  return orText(object({ ...fields, tools, allowed_tools }, names));
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
