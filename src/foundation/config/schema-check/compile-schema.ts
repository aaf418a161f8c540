import { Ajv } from "ajv";
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { messageOf } from "../../errors.ts";
import { placeOfPointer, placeOfSyntaxError, pointerPart } from "./json-place.ts";
import type { Place } from "./json-place.ts";

/** What is wrong with a schema. */
export interface SchemaProblem extends Place {
  readonly message: string;
}

type Compiled =
  | { readonly type: "valid"; readonly validate: ValidateFunction }
  | { readonly type: "invalid"; readonly problem: SchemaProblem };

const options: Options = {
  // A keyword that is not known has no effect, as the standard wants it. So have formats.
  strict: false,
  validateFormats: false,
  // Inherited members do not count.
  ownProperties: true,
  logger: false,
};

/** Reads a JSON Schema. References to other files are not followed. Never throws. */
export function compileSchema(text: string): Compiled {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    const reason = messageOf(error).replace(/ in JSON at position.*| \(line.*|, ".*$/s, "");
    return invalid(placeOfSyntaxError(text, error), `not valid JSON: ${reason}`);
  }
  const draft = draftOf(schema);
  if (draft === null) return invalid(placeOfPointer(text, "/$schema"), unknownDraft);
  try {
    if (draft.validateSchema(schema as object) !== true) {
      const [error] = draft.errors ?? [];
      const where = error?.instancePath ?? "";
      return invalid(placeOfPointer(text, where), `${where || "it"} ${reasonOf(error)}`);
    }
    const validate = draft.compile(schema as object);
    // Its answer would be a promise, which is no error of any value.
    if ("$async" in validate) return invalid(placeOfPointer(text, "/$async"), asyncSchema);
    return { type: "valid", validate };
  } catch (error) {
    const message = messageOf(error);
    return invalid(placeOfPointer(text, pointerTo(schema, message)), message);
  }
}

/** Why a value does not meet a schema, with the path in the value; null when it does. */
export function mismatch(validate: ValidateFunction, value: unknown): string | null {
  if (validate(value)) return null;
  const errors = validate.errors ?? [];
  // The last one is that of the outermost keyword; "if" does not say what is wrong.
  const error = errors.findLast(({ keyword }) => keyword !== "if") ?? errors.at(-1);
  const path = error?.instancePath ?? "";
  return `${path || "it"} ${reasonOf(error)}`;
}

const asyncSchema = '"$async" is no keyword of JSON Schema; leave it out';

const unknownDraft =
  '"$schema" names a draft that is not known; expected "https://json-schema.org/draft/2020-12/schema" or "http://json-schema.org/draft-07/schema#"';

/** Each schema has a draft of its own: one keeps the ids of all that it reads. Null for one that is not known. */
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

function invalid({ line, column }: Place, message: string): Compiled {
  return { type: "invalid", problem: { line, column, message } };
}

/** Keywords whose texts are refused only when the schema is compiled. */
const quotedKeywords = ["pattern", "$ref", "$dynamicRef", "$id", "$anchor"];

/** The pattern or the reference that a message quotes. Not recursive, as a schema may be deep. */
function pointerTo(schema: unknown, message: string): string {
  const rest: (readonly [unknown, string])[] = [[schema, ""]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [value, pointer] = next;
    if (typeof value !== "object" || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      const at = `${pointer}/${pointerPart(name)}`;
      const isQuoted = quotedKeywords.includes(name) && message.includes(String(inner));
      if (typeof inner === "string" && isQuoted) return at;
      rest.push([inner, at]);
    }
  }
  return "";
}
