import { z } from "zod";
import { parse, TomlError } from "smol-toml";
import { messageOf } from "../errors.ts";
import { didYouMean } from "../contracts/did-you-mean.ts";
import { isPlainObject } from "../contracts/json-size.ts";
import { formatPath, formatValue } from "./format-value.ts";
import { tomlLocator, tomlWords, type TomlPath, type Locate } from "./toml-locator.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";

/** A TOML file against its schema: the value, null when it has errors, and its diagnostics. */
interface Validated<T> {
  readonly value: T | null;
  /** For checks beyond the schema, which add to the same diagnostics. */
  readonly diagnostics: Diagnostics;
}

type Table = Record<string, unknown>;
type Issue = z.core.$ZodIssue;

/**
 * Reads TOML by a schema whose error messages describe the expected values. Unknown keys are warnings and are left out;
 * everything else that doesn't fit is an error. Never throws.
 */
export function validateToml<S extends z.ZodType>(
  schema: S,
  file: string,
  text: string,
): Validated<z.output<S>> {
  const diagnostics = createDiagnostics(file, tomlLocator(text));
  const data = parseToml(text);
  if ("message" in data) {
    const { line, column, message } = data;
    const broken = createDiagnostics(file, () => ({ line, column }));
    broken.error([], message);
    return { value: null, diagnostics: broken };
  }
  const first = schema.safeParse(data.table);
  if (first.success) return { value: first.data, diagnostics };
  report(first.error.issues, schema, data.table, diagnostics);
  if (hasErrors(diagnostics.problems)) return { value: null, diagnostics };
  // Only unknown keys were wrong, and they are removed from the data now.
  const { data: value = null, error } = schema.safeParse(data.table);
  if (error) report(error.issues, schema, data.table, diagnostics);
  return { value, diagnostics };
}

type Parsed =
  | { readonly table: Table }
  | { readonly line: number; readonly column: number; readonly message: string };

function parseToml(text: string): Parsed {
  try {
    return { table: parse(text, { unsafeKeyBehaviour: "throw", maxDepth: 64 }) };
  } catch (error) {
    const { line, column } = error instanceof TomlError ? error : { line: 1, column: 1 };
    const [reason = ""] = messageOf(error)
      .replace(/^Invalid TOML document: /, "")
      .split("\n");
    const words = tomlWords(reason, text, { line, column });
    return { line, column, message: `not valid TOML: ${words}` };
  }
}

/** Reports all issues, one per place, and removes unknown keys from the data. */
function report(
  issues: readonly Issue[],
  schema: z.ZodType,
  data: Table,
  diagnostics: Diagnostics,
): void {
  const reported = new Set<string>();
  for (const issue of issues) {
    const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
    const place = JSON.stringify(path);
    if (issue.code === "unrecognized_keys") {
      warnOfKeys(issue.keys, path, schema, data, diagnostics);
    } else if (!reported.has(place)) {
      reported.add(place);
      const at = issue.code === "invalid_key" ? "key" : "value";
      diagnostics.error(path, issueMessage(issue, path, valueAt(data, path)), at);
    }
  }
}

function warnOfKeys(
  keys: readonly string[],
  path: TomlPath,
  schema: z.ZodType,
  data: Table,
  diagnostics: Diagnostics,
): void {
  const known = knownKeys(schema, path);
  const table = valueAt(data, path);
  for (const key of keys) {
    const removed = removedKeys.get(formatPath([...path, key]));
    if (removed !== undefined) {
      diagnostics.warn([...path, key], removed, "key");
      if (isPlainObject(table)) Reflect.deleteProperty(table, key);
      continue;
    }
    const near = didYouMean(key, known) || `; known here: ${known.join(", ")}`;
    diagnostics.warn([...path, key], `unknown key ${formatValue(key)} is ignored${near}`, "key");
    if (isPlainObject(table)) Reflect.deleteProperty(table, key);
  }
}

function issueMessage(issue: Issue, path: TomlPath, found: unknown): string {
  const name = formatPath(path);
  if (issue.code === "invalid_key") {
    return `the name ${formatValue(path.at(-1))} is not allowed; expected ${issue.issues[0]?.message ?? "another"}`;
  }
  if (found === undefined) return `${name} is missing; expected ${issue.message}`;
  const values = issue.code === "invalid_value" ? issue.values.map(String) : [];
  const near = typeof found === "string" ? didYouMean(found, values) : "";
  // A wrong address may be close to the right one, which is secret.
  const shown =
    path[0] === "heartbeat" && typeof found === "string" ? "[redacted]" : formatValue(found);
  return `${name} is ${shown}; expected ${issue.message}${near}`;
}

function valueAt(data: unknown, path: TomlPath): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)] as unknown;
    return isPlainObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }, data);
}

/** The keys that the schema knows in the table at `path`. */
function knownKeys(schema: z.core.$ZodType, path: TomlPath): string[] {
  const inner = unwrapped(schema);
  const [part, ...rest] = path;
  if (part === undefined) return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
  if (inner instanceof z.ZodRecord) return knownKeys(inner.valueType, rest);
  if (inner instanceof z.ZodArray) return knownKeys(inner.element, rest);
  if (!(inner instanceof z.ZodObject)) return [];
  const field = (inner.shape as Readonly<Record<string, z.core.$ZodType>>)[part];
  return field === undefined ? [] : knownKeys(field, rest);
}

/** Keys of earlier versions, with the warning for a config that still has one. */
const removedKeys: ReadonlyMap<string, string> = new Map([
  [
    "local.warm",
    "local.warm does nothing: processes are no longer started before their run. Remove it",
  ],
]);

/** The schema without its wrappers for optional keys. */
export function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return isWrapper(schema) ? unwrapped(schema.unwrap()) : schema;
}

function isWrapper(
  schema: z.core.$ZodType,
): schema is z.ZodOptional | z.ZodDefault | z.ZodPrefault {
  return (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  );
}

/** The expected value from a schema's error message, which also describes a valid field. */
export function expectation(schema: z.core.$ZodType): string | null {
  const { error } = unwrapped(schema)._zod.def;
  if (error === undefined) return null;
  const message = (error as (issue: object) => unknown)({});
  return typeof message === "string" ? message : null;
}

/** The purpose of a key; null if it has no description. */
export function meaning(schema: z.core.$ZodType): string | null {
  return z.globalRegistry.get(schema)?.description ?? null;
}

/** The value of an unset key in words, if a config file can't write it; null without one. */
export function fallbackOf(schema: z.core.$ZodType): string | null {
  const { fallback } = z.globalRegistry.get(schema) ?? {};
  return typeof fallback === "string" ? fallback : null;
}

/** The default of a key, as TOML writes it; null if the key has none. */
export function defaultOf(schema: z.core.$ZodType): string | null {
  if (schema instanceof z.ZodOptional) return defaultOf(schema.unwrap());
  if (!(schema instanceof z.ZodDefault)) return null;
  return JSON.stringify(schema.def.defaultValue);
}

/** Whether the key may be left out. */
export function isOptional(schema: z.core.$ZodType): boolean {
  return isWrapper(schema);
}

/** More problems of one file help no reader, and a page has to show them. */
const maxEach = 25;

/**
 * Collects the problems of one TOML file, each at its key path: by default at the value. `file` is relative to the
 * project. Keeps the first problems of each severity, and one that counts the rest.
 */
function createDiagnostics(file: string, locate: Locate) {
  const problems: Diagnostic[] = [];
  const start = { line: 1, column: 1 };
  const add = (severity: Diagnostic["severity"]) => {
    let count = 0;
    return (path: TomlPath, message: string, at: "key" | "value" = "value"): void => {
      count++;
      if (count > maxEach + 1) return;
      const text = count > maxEach ? "there are more problems; correct these first" : message;
      problems.push({ severity, file, ...(locate(path, at) ?? start), message: text });
    };
  };
  return { problems: problems as readonly Diagnostic[], error: add("error"), warn: add("warning") };
}

export type Diagnostics = ReturnType<typeof createDiagnostics>;

export function hasErrors(problems: readonly Diagnostic[]): boolean {
  return problems.some(({ severity }) => severity === "error");
}

/** A problem of a whole file. */
export function fileProblem(file: string, message: string): Diagnostic {
  return { severity: "error", file, line: null, column: null, message };
}
