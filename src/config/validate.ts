import { parse, TomlError } from "smol-toml";
import { z } from "zod";
import { messageOf } from "../errors.ts";
import { didYouMean } from "../contracts/did-you-mean.ts";
import { unwrapped } from "./explain-schema.ts";
import { hasErrors, problemSheet } from "./problem-sheet.ts";
import type { ProblemSheet } from "./problem-sheet.ts";
import { sayPath, sayValue } from "./say.ts";
import { tomlLocator } from "./toml-locator.ts";
import type { TomlPath } from "./toml-locator.ts";

/** A TOML file against its schema: the value, null when it has errors, and what there is to say about it. */
interface Validated<T> {
  readonly value: T | null;
  /** For the checks that a schema can't make: they go on in the same sheet. */
  readonly sheet: ProblemSheet;
}

type Table = Record<string, unknown>;
type Issue = z.core.$ZodIssue;

/**
 * Reads TOML by a schema whose error messages say what is expected. Unknown keys are warnings and are left out;
 * everything else that doesn't fit is an error. Never throws.
 */
export function validateToml<S extends z.ZodType>(
  schema: S,
  file: string,
  text: string,
): Validated<z.output<S>> {
  const sheet = problemSheet(file, tomlLocator(text));
  const data = parseToml(text);
  if ("message" in data) {
    const { line, column, message } = data;
    const broken = problemSheet(file, () => ({ line, column }));
    broken.error([], message);
    return { value: null, sheet: broken };
  }
  const first = schema.safeParse(data.table);
  if (first.success) return { value: first.data, sheet };
  report(first.error.issues, schema, data.table, sheet);
  if (hasErrors(sheet.problems)) return { value: null, sheet };
  // Only unknown keys were wrong, and they are out of the data now.
  const { data: value = null, error } = schema.safeParse(data.table);
  if (error) report(error.issues, schema, data.table, sheet);
  return { value, sheet };
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
    return { line, column, message: `not valid TOML: ${reason}` };
  }
}

/** Says all issues, one a place, and takes unknown keys out of the data. */
function report(
  issues: readonly Issue[],
  schema: z.ZodType,
  data: Table,
  sheet: ProblemSheet,
): void {
  const said = new Set<string>();
  for (const issue of issues) {
    const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
    const place = JSON.stringify(path);
    if (issue.code === "unrecognized_keys") {
      warnOfKeys(issue.keys, path, schema, data, sheet);
    } else if (!said.has(place)) {
      said.add(place);
      const at = issue.code === "invalid_key" ? "key" : "value";
      sheet.error(path, issueMessage(issue, path, valueAt(data, path)), at);
    }
  }
}

function warnOfKeys(
  keys: readonly string[],
  path: TomlPath,
  schema: z.ZodType,
  data: Table,
  sheet: ProblemSheet,
): void {
  const known = knownKeys(schema, path);
  const table = valueAt(data, path);
  for (const key of keys) {
    const near = didYouMean(key, known) || `; known here: ${known.join(", ")}`;
    sheet.warn([...path, key], `unknown key ${sayValue(key)} is ignored${near}`, "key");
    if (isTable(table)) Reflect.deleteProperty(table, key);
  }
}

function issueMessage(issue: Issue, path: TomlPath, found: unknown): string {
  const name = sayPath(path);
  if (issue.code === "invalid_key") {
    return `the name ${sayValue(path.at(-1))} is not allowed; expected ${issue.issues[0]?.message ?? "another"}`;
  }
  if (found === undefined) return `${name} is missing; expected ${issue.message}`;
  const values = issue.code === "invalid_value" ? issue.values.map(String) : [];
  const near = typeof found === "string" ? didYouMean(found, values) : "";
  return `${name} is ${sayValue(found)}; expected ${issue.message}${near}`;
}

function valueAt(data: unknown, path: TomlPath): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)] as unknown;
    return isTable(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }, data);
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
