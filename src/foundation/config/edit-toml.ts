import { parse as parseKept, patch } from "@decimalturn/toml-patch";
import { parse, stringify, TomlDate } from "smol-toml";
import { isPlainObject } from "../contracts/json-size.ts";
import { didYouMean } from "../contracts/did-you-mean.ts";
import { Problem, usageError } from "../errors.ts";

/** One change of a TOML file; without a value the key is removed. */
export interface Edit {
  readonly path: readonly string[];
  readonly value?: unknown;
  /** Whether the value is appended to the existing list. */
  readonly isAdded?: boolean;
}

type Table = Record<string, unknown>;

/** `key=value` as a person writes it: the value is TOML, or else text without quotes. Throws a Problem (usage). */
export function parseSetting(setting: string): Edit {
  const at = setting.indexOf("=");
  if (at < 1) throw usageError(`"${setting}" is not a setting`, "Use key=value, such as scale=2.");
  return { path: parseKey(setting.slice(0, at)), value: parseValue(setting.slice(at + 1).trim()) };
}

/** A dotted TOML key. Throws a Problem (usage). */
export function parseKey(key: string): string[] {
  const path: string[] = [];
  try {
    let inner: unknown = parse(`${key.trim()} = 0`);
    while (typeof inner === "object" && inner !== null) {
      const [[name, next] = ["", 0]] = Object.entries(inner);
      path.push(name);
      inner = next;
    }
    return path;
  } catch {
    throw usageError(`${key} is not a key`, "expected a TOML key, such as scale or runtime.type");
  }
}

function parseValue(text: string): unknown {
  try {
    const { value } = parse(`value = ${text}`);
    // Dates become texts: no key takes a date.
    if (!(value instanceof TomlDate)) return value;
  } catch {
    // Text needs no quotes, which a shell removes.
  }
  return text;
}

/** The edited text; comments, order and layout of the rest stay. Throws a Problem if the text is not TOML. */
export function edited(text: string, edits: readonly Edit[]): string {
  const source = text.replaceAll(emptyArray, `$1["${emptyMark}"]$2`);
  const table = tableOf(source);
  const before = new Set(Object.keys(table));
  for (const edit of edits) apply(table, edit);
  const tables = takeNewTables(table, before);
  const kept = patch(source, table).replaceAll(marked, "[]");
  if (tables === "") return kept;
  return [kept.trimEnd(), tables].filter((part) => part !== "").join("\n\n");
}

/** The writer (3.3.0) fails on a list of tables with a new key, so such lists are taken out and appended at the end. */
function takeNewTables(table: Table, before: ReadonlySet<string>): string {
  const isNew = ([key, value]: [string, unknown]): boolean =>
    !before.has(key) && Array.isArray(value) && value.length > 0 && value.every(isPlainObject);
  const added = Object.entries(table).filter(isNew);
  for (const [key] of added) Reflect.deleteProperty(table, key);
  return added.length === 0 ? "" : stringify(Object.fromEntries(added));
}

/** The writer (3.3.0) drops a comment behind an empty array, so such an array holds a mark while it is edited. */
const emptyMark = "al:empty";
const emptyArray = /(?<![^\n])([^#\n]*=[^\S\n]*)\[[^\S\n]*\]([^\S\n]*#)/g;
const marked = new RegExp(`\\[ *"${emptyMark}" *(?:, *)?\\]`, "g");

function apply(table: Table, edit: Edit): void {
  const { path, value } = edit;
  const [last = "", ...outer] = [...path].reverse();
  let inner = table;
  for (const part of outer.reverse()) {
    const next = Object.hasOwn(inner, part) ? inner[part] : undefined;
    if (typeof next !== "object" || next === null) {
      if (value === undefined) return;
      inner[part] = {};
    }
    inner = inner[part] as Table;
  }
  if (value === undefined) Reflect.deleteProperty(inner, last);
  else inner[last] = valueIn(Object.hasOwn(inner, last) ? inner[last] : [], edit);
}

function valueIn(there: unknown, { path, value, isAdded = false }: Edit): unknown {
  if (isAdded) return longer(there, value, path);
  return Array.isArray(value) && value.length === 0 ? [emptyMark] : value;
}

/** The list with the missing values added. Throws a Problem (usage) if it is not a list. */
function longer(there: unknown, value: unknown, path: readonly string[]): readonly unknown[] {
  if (!Array.isArray(there)) {
    throw usageError(`${path.join(".")} is not a list`, "Replace its value with `--set`.");
  }
  const before: readonly unknown[] = there.filter((one) => one !== emptyMark);
  const added: readonly unknown[] = Array.isArray(value) ? value : [value];
  return [...before, ...added.filter((one) => !before.includes(one))];
}

/** An unset key can't be removed: the user meant another one. Throws a Problem. */
export function refuseUnset(
  file: { readonly path: string; readonly text: string },
  edits: readonly Edit[],
): void {
  for (const { path } of edits.filter(({ value }) => value === undefined)) {
    const near = missingKey(file.text, path);
    if (near === null) continue;
    throw new Problem(
      "unknown_key",
      `${file.path} has no key ${path.join(".")}${near}`,
      "nothing was written",
    );
  }
}

/** Null if the key is in the text; else a suggestion, or nothing without a similar key. */
function missingKey(text: string, path: readonly string[]): string | null {
  let inner: unknown = tableOf(text);
  for (const part of path) {
    const table = typeof inner === "object" && inner !== null ? (inner as Table) : {};
    if (!Object.hasOwn(table, part)) return didYouMean(part, Object.keys(table));
    inner = table[part];
  }
  return null;
}

function tableOf(text: string): Table {
  try {
    return parseKept(text) as Table;
  } catch (error) {
    throw new Problem("invalid_config", "the file is not valid TOML", {
      hint: "Run `al doctor` to see the line, and correct it first.",
      cause: error,
    });
  }
}
