import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ExpectedSchema } from "../../../streams/agent-config.ts";
import { messageOf } from "../errors.ts";

/** Line and column from 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** Why a file is not a JSON Schema. */
export interface SchemaProblem extends Place {
  readonly message: string;
}

const options: Options = {
  // The standard ignores unknown keywords. Formats are annotations.
  strict: false,
  validateFormats: false,
  // Inherited members do not count.
  ownProperties: true,
  logger: false,
};

/**
 * Checks a JSON Schema by the schema of its draft; null if it is valid. Compiling a hostile schema can take seconds, so
 * it is not compiled: a wrong pattern or reference fails the run that returns a value. Never throws.
 */
export function schemaProblem(text: string): SchemaProblem | null {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    const reason = messageOf(error);
    const place = placeOfSyntaxError(text, reason);
    return {
      ...place,
      message: `not valid JSON: ${reason.replace(/ in JSON at.*|, (\.\.\.)?".*$/s, "")}`,
    };
  }
  const draft = draftOf(schema);
  if (draft === null) return { ...placeOfPointer(text, "/$schema"), message: unknownDraft };
  try {
    if (draft.validateSchema(schema as object) === true) return null;
    const [error] = draft.errors ?? [];
    const pointer = error?.instancePath ?? "";
    return { ...placeOfPointer(text, pointer), message: `${pointer || "it"} ${reasonOf(error)}` };
  } catch (error) {
    return { line: 1, column: 1, message: messageOf(error) };
  }
}

const maxReasonCharacters = 280;

/**
 * Why a value does not match a schema: `the returned value does not match out.json: /id must be string`; null if it does.
 * May take unbounded time and memory, so only the run whose value it is calls it. Never throws.
 */
export function schemaMismatch(
  { file, text }: ExpectedSchema,
  value: unknown,
  subject = "the returned value",
): string | null {
  const reason = mismatch(text, value)?.replace(/\s+/g, " ").slice(0, maxReasonCharacters);
  return reason === undefined ? null : `${subject} does not match ${file}: ${reason}`;
}

function mismatch(text: string, value: unknown): string | null {
  try {
    const schema = JSON.parse(text) as object;
    const draft = draftOf(schema);
    if (draft === null) return unknownDraft;
    const validate = draft.compile(schema);
    if ("$async" in validate) return '"$async" is not a keyword of JSON Schema';
    if (validate(value)) return null;
    const errors = validate.errors ?? [];
    // The last error is that of the outermost keyword; "if" does not explain anything.
    const error = errors.findLast(({ keyword }) => keyword !== "if") ?? errors.at(-1);
    return `${error?.instancePath || "it"} ${reasonOf(error)}`;
  } catch (error) {
    // A wrong pattern, an unknown reference, or a schema that refers to itself without end.
    return `it can't be checked: ${messageOf(error)}`;
  }
}

const unknownDraft =
  '"$schema" names an unknown draft; expected "https://json-schema.org/draft/2020-12/schema" or "http://json-schema.org/draft-07/schema#"';

/** The validator of a schema's draft; null if the draft is unknown. */
function draftOf(schema: unknown): Ajv | Ajv2020 | null {
  const { $schema: name = "2020-12" } = Object(schema) as { readonly $schema?: unknown };
  if (/2020-12(\/schema#?)?$/.test(String(name))) return new Ajv2020(options);
  return /draft-07\/schema#?$/.test(String(name)) ? new Ajv(options) : null;
}

function reasonOf(error: ErrorObject | undefined): string {
  const { message = "is not allowed", params = {} } = error ?? {};
  const { allowedValues, allowedValue, additionalProperty } = params as Record<string, unknown>;
  const detail = allowedValues ?? allowedValue ?? additionalProperty;
  return detail === undefined ? message : `${message} (${JSON.stringify(detail)})`;
}

/** V8 gives the position of most errors; for an unexpected token it quotes ten characters on both sides. */
function placeOfSyntaxError(text: string, message: string): Place {
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return placeAt(text, Number(position));
  const quoted = /^Unexpected token '(.)', (\.\.\.)?"(.*)"(\.\.\.)? is not/s.exec(message);
  if (quoted === null) return placeAt(text, text.length);
  const [, token = "", cut, around = ""] = quoted;
  return placeAt(text, text.indexOf(around) + (cut === undefined ? around.indexOf(token) : 10));
}

/** Where the value of a JSON pointer begins: its members' names are searched one after the other. */
function placeOfPointer(text: string, pointer: string): Place {
  let at = 0;
  for (const part of pointer.split("/").slice(1)) {
    const name = JSON.stringify(part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const found = text.indexOf(name, at);
    // The index of a list has no name.
    if (found === -1) continue;
    const end = found + name.length;
    at = end + (/^\s*:\s*/.exec(text.slice(end, end + 100))?.[0].length ?? 0);
  }
  return placeAt(text, at);
}

function placeAt(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
