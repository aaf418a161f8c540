import { z } from "zod";
import { choice, parseDuration, pattern } from "./fields.ts";
import { formatPath } from "./format-value.ts";
import type { Diagnostics } from "./validate.ts";

/** The type of source whose own keys describe what its sender signs. */
export const genericType = "generic";

/** Fields of an event that a path in the body can name. */
const eventFields = [
  "repository",
  "number",
  "title",
  "body",
  "url",
  "author",
  "sender",
  "branch",
  "head_sha",
  "labels",
  "conclusion",
] as const;
export type EventField = (typeof eventFields)[number];

const placeError = 'a path in the body such as "event.type", or a header such as "header:X-Event"';
const onePlace = String.raw`(header:[A-Za-z0-9][\w-]*|[^.: ]+(\.[^.: ]+)*)`;
const placesForm = new RegExp(`^${onePlace}( ${onePlace})*$`);
const signedError =
  'a text with {body} once, and {time} and {id} apart from each other, e.g. "{time}.{body}"';
const signedForm = /^([^{}]|\{(id|time)\})*\{body\}([^{}]|\{(id|time)\})*$/;
const toleranceError = 'a time of 1 minute or more, e.g. "5m"';

function eachField<Field>(field: Field) {
  return Object.fromEntries(eventFields.map((name) => [name, field])) as Record<EventField, Field>;
}

const unset = <Field extends z.ZodType>(field: Field, description: string, fallback = "none") =>
  field.optional().meta({ description, fallback });

const place = (description: string, fallback?: string, form = placesForm) =>
  unset(
    // A receipt keeps the header.
    pattern(form, placeError).refine((at) => !/header:(authorization|cookie)( |$)/i.test(at), {
      error: placeError,
    }),
    description,
    fallback,
  );

/** Keys of a source that apply to `type = "generic"` alone. */
export const formatKeys = {
  signature: unset(
    pattern(/^[A-Za-z0-9][\w-]*$/, 'the name of a header, e.g. "X-Signature"'),
    'For `type = "generic"` only, like all keys below: the header with the HMAC, or several separated by commas.',
    '`"X-Signature"`',
  ),
  algorithm: unset(choice(["sha256", "sha512"]), "Hash of the HMAC.", '`"sha256"`'),
  encoding: unset(choice(["hex", "base64"]), "Encoding of the HMAC.", '`"hex"`'),
  prefix: unset(pattern(/^[!-+\--~]{0,40}$/, 'a text such as "sha256="'), "Text before the HMAC."),
  signed: unset(
    // The last digits of an ID could be read as the first ones of a time.
    pattern(signedForm, signedError).refine((text) => !/\}\{(id|time)\}/.test(text), {
      error: signedError,
    }),
    "The signed text. `{time}` and `{id}` represent the headers of `time` and `id`.",
    '`"{body}"`',
  ),
  id: place(
    "ID of the delivery. The same body with the same ID is a duplicate. Of several places, separated by spaces, the first with a value counts.",
  ),
  event: place("Name of the event.", '`"event"`'),
  action: place("Action of the event.", "the last part of the event's name, after `.`, `:` or `/`"),
  // One place: a second one that is not signed could replace the first.
  time: place(
    "Time of sending: Unix seconds or milliseconds, or ISO 8601. `signed` must contain the `{time}` of a header.",
    "none",
    new RegExp(`^${onePlace}$`),
  ),
  tolerance: unset(
    pattern(/^/, toleranceError).refine((text) => typeof parseDuration(text) === "number", {
      error: toleranceError,
    }),
    "How old `time` may be; older deliveries are refused.",
    '`"5m"`',
  ),
  fields: unset(
    z.strictObject(eachField(pattern(placesForm, placeError).optional()), {
      error: 'a table such as { title = "incident.title" }',
    }),
    `Places of the event's fields: ${eventFields.join(", ")}. In a path, \`[]\` represents each element of a list.`,
  ),
};

const formatSchema = z.object(formatKeys);
export type WebhookFormat = z.output<typeof formatSchema>;

/** The format with the defaults of its keys. */
export function completeFormat({
  signature = "X-Signature",
  algorithm = "sha256",
  encoding = "hex",
  prefix = "",
  signed = "{body}",
  tolerance = "5m",
  fields = {},
  ...places
}: WebhookFormat) {
  return { signature, algorithm, encoding, prefix, signed, tolerance, fields, ...places };
}

/** Rules that span several keys of one source. */
export function checkFormat(
  name: string,
  source: WebhookFormat & { readonly type: string },
  diagnostics: Diagnostics,
): void {
  const refuse = (key: string, why: string): void => {
    const path = ["webhooks", name, key];
    diagnostics.error(path, `${formatPath(path)} ${why}`);
  };
  if (source.type === genericType) return checkSigned(source, refuse);
  for (const key of Object.keys(formatKeys)) {
    if (Object.hasOwn(source, key)) refuse(key, `applies to type "${genericType}" only; remove it`);
  }
}

function checkSigned(source: WebhookFormat, refuse: (key: string, why: string) => void): void {
  const { signed } = completeFormat(source);
  for (const key of ["id", "time"] as const) {
    const isHeader = source[key]?.startsWith("header:") === true;
    const isSigned = signed.includes(`{${key}}`);
    if (isSigned && !isHeader) refuse("signed", `contains {${key}}; name its header in \`${key}\``);
    if (isHeader && !isSigned && key === "time") {
      refuse(key, "is a header that is not signed, so it proves nothing; add {time} to `signed`");
    }
  }
}
