import { valueAt } from "../../../streams/where.ts";
import { isPlainObject } from "../../foundation/contracts/json-size.ts";

/** An unchecked JSON object. */
export type Payload = Readonly<Record<string, unknown>>;

/** A body that could be read, or why not, in words for the sender. */
export type Parsed =
  | { readonly ok: true; readonly payload: Payload }
  | { readonly ok: false; readonly why: string };

/** Reads a body that is one JSON object, whatever its content type. */
export function parseJsonBody(body: Uint8Array): Parsed {
  const payload = parseObject(body);
  return payload === null
    ? { ok: false, why: "the body is not a JSON object in UTF-8" }
    : { ok: true, payload };
}

/** True for the content type of an HTML form. */
export function isForm(contentType: string | null): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(contentType ?? "");
}

/** The fields of a form. */
export function formFields(body: Uint8Array): URLSearchParams {
  return new URLSearchParams(new TextDecoder().decode(body));
}

/** Reads the form field in which some providers send their JSON. */
export function parsePayloadField(form: URLSearchParams): Parsed {
  const payload = parseObject(form.get("payload") ?? "");
  return payload === null
    ? { ok: false, why: "the form has no field `payload` that is a JSON object" }
    : { ok: true, payload };
}

/** No provider lists more labels or assignees than this; a hostile body might. */
const maxValues = 1_000;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The JSON object in these bytes, or null when they are something else or not UTF-8. */
export function parseObject(bytes: Uint8Array | string): Payload | null {
  try {
    const value: unknown = JSON.parse(typeof bytes === "string" ? bytes : utf8.decode(bytes));
    return isPlainObject(value) ? value : null;
  } catch {
    return null; // Without the parser's message, which would quote the body.
  }
}

/** The first non-empty string at these paths. */
export function text(payload: unknown, ...paths: readonly string[]): string | null {
  for (const path of paths) {
    const value = valueAt(payload, path);
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** The first integer at these paths, as a number or as digits. */
export function integer(payload: unknown, ...paths: readonly string[]): number | null {
  for (const path of paths) {
    const value = valueAt(payload, path);
    const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (Number.isSafeInteger(number)) return number as number;
  }
  return null;
}

/** All strings at these paths, each once; `[]` stands for every element, as in `issue.labels[].name`. */
export function texts(payload: unknown, ...paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) collect(payload, path, found);
  return [...found];
}

function collect(value: unknown, path: string, found: Set<string>): void {
  const list = path.indexOf("[]");
  const own = list < 0 ? path : path.slice(0, list);
  const reached = own === "" ? value : valueAt(value, own);
  if (list < 0) {
    if (typeof reached === "string" && reached !== "") found.add(reached);
    return;
  }
  if (!Array.isArray(reached)) return;
  const inside = path.slice(list + "[]".length).replace(/^\./, "");
  for (const element of reached.slice(0, maxValues)) collect(element, inside, found);
}

/** The object with another value at a path, whose objects are made where they are missing. */
export function withValue(
  payload: Payload,
  [key = "", ...rest]: readonly string[],
  value: unknown,
): Payload {
  const inner = isPlainObject(payload[key]) ? payload[key] : {};
  return { ...payload, [key]: rest.length === 0 ? value : withValue(inner, rest, value) };
}
