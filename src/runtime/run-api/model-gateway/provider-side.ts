import type { Json } from "./json.ts";

/** The names whose field is set to something else than its harmless values; null and absence are always harmless. */
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
 * Whether a text is an address rather than the data itself, which is a `data:` URL or plain base64. Servers differ in
 * what else they take for an address: some ignore control characters in it.
 */
export function isAddress(value: unknown): boolean {
  return typeof value === "string" && !/^data:/i.test(value) && !/^[\w+/=\s-]*$/.test(value);
}
