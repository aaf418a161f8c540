import { z } from "zod";
import {
  isCredentialInstance,
  parseCredentialReference,
  gatewayKeyType,
} from "../contracts/credential-reference.ts";
import { formatNames } from "./format-value.ts";
import type { AlertTargetType } from "../../../streams/alert-options.ts";

/**
 * Building blocks of the schemas. Each error message describes the expected value, so that a problem reads "is …;
 * expected …".
 */

/** A timer can't wait for more than 2^31−1 ms. */
export const maxTimerSeconds = 2_147_483;

/** Larger TOML integers are not exact here. */
const maxInteger = Number.MAX_SAFE_INTEGER;

/** A table that warns of keys it doesn't know. */
export function table<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, { error: "a table" });
}

export function text(expected = "a string") {
  return z.string({ error: expected }).min(1, { error: expected });
}

export function pattern(regexp: RegExp, expected: string) {
  return z.string({ error: expected }).regex(regexp, { error: expected });
}

/** A whole number; NaN and infinity, which TOML has, are refused. */
export function integer(expected: string, min: number, max = maxInteger) {
  const range = max === maxInteger ? `${min} or more` : `${min} to ${max}`;
  const error = `a whole number${expected && ` of ${expected}`}, ${range}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function memorySize() {
  return pattern(/^\d+(\.\d+)?[bkmgBKMG]?$/, 'a size, e.g. "512m" or "4g"');
}

/** The bytes of "512k", "50m" or "2g"; a number alone is bytes. */
export function sizeBytes(text: string): number {
  const [, count = "", unit = ""] = /^([\d.]+)([bkmg]?)$/i.exec(text) ?? [];
  return Math.floor(Number(count) * 1024 ** Math.max(0, "bkmg".indexOf(unit.toLowerCase())));
}

/** The text for a file, in the largest unit that leaves a whole number. */
export function writtenSize(bytes: number): string {
  const power = [3, 2, 1].find((one) => bytes > 0 && bytes % 1024 ** one === 0) ?? 0;
  return `${bytes / 1024 ** power}${["", "k", "m", "g"][power] ?? ""}`;
}

export function processors() {
  const error = "a number of processors above 0, e.g. 0.5 or 2";
  return z.number({ error }).positive({ error });
}

export function network() {
  return text('"none", "bridge" or the name of a network');
}

export function flag() {
  return z.boolean({ error: "true or false" });
}

export function choice<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, { error: `one of ${formatNames(values)}` });
}

export function list<Item extends z.ZodType>(item: Item, expected: string) {
  return z.array(item, { error: expected });
}

export function texts() {
  return list(text(), 'a list of texts, e.g. ["a", "b"]');
}

/** Labels for people; a repeated one counts once. */
export function tags() {
  const expected = `a list of up to ${maxTags} tags of letters, digits, "-", "_", "." and "/", e.g. ["web", "team-a"]`;
  return list(pattern(/^\w[\w./-]{0,39}$/, expected), expected).max(maxTags, { error: expected });
}

const maxTags = 20;

export function timezone() {
  const error = 'an IANA time zone, e.g. "Europe/Berlin" or "UTC"';
  return z.string({ error }).refine(isTimezone, { error });
}

const param = z.union([z.string(), z.number(), z.boolean()]);

/** Values of the user's choice for prompts. */
export function params() {
  const error = "text, a number, true, false, or a list of these";
  const value = z.union([param, z.array(param)], { error });
  return z.record(z.string(), value, { error: "a table" }).default({});
}

export const paramsValue = z.record(z.string(), z.union([param, z.array(param).readonly()]));

/** A reference to a credential that an agent or a model may have. */
export function credential() {
  const error = `"type" or "type:instance" of a credential other than ${gatewayKeyType}`;
  return z.string({ error }).refine(isAllowedCredential, { error });
}

/** A reference to a credential that runs may get: a run with the scheduler's could send forged alerts or traces. */
export function runCredential() {
  const error = `a credential for runs; one of this type is the scheduler's, for alerts or telemetry, so store what the agent needs under another type`;
  return credential().refine(isNotOfScheduler, { error });
}

/** Credential type of each target type, with its address and secrets. */
export const alertCredentialTypes: Readonly<Record<AlertTargetType, string>> = {
  slack: "slack_webhook",
  discord: "discord_webhook",
  teams: "teams_webhook",
  telegram: "telegram_bot",
  ntfy: "ntfy_topic",
  email: "smtp",
  webhook: "alert_webhook",
};

/** The credential of a slack target that posts as an app: it edits its messages and receives presses of buttons. */
export const slackAppType = "slack_app";

/** The credential with the headers of `[telemetry]`. */
export const otlpHeadersType = "otlp_headers";

const ofScheduler = [...Object.values(alertCredentialTypes), slackAppType, otlpHeadersType];

function isNotOfScheduler(reference: string): boolean {
  const parsed = parseCredentialReference(reference);
  return parsed === null || !ofScheduler.includes(parsed.type);
}

export function credentialInstance() {
  const error = 'the name of a credential\'s instance, e.g. "default"';
  return z.string({ error }).refine(isCredentialInstance, { error });
}

/** A length of time as text, such as "90s", "24h" or "7d". */
export function duration(expected: string) {
  const error = `${expected} from 1 minute to 365 days, e.g. "90m", "24h" or "7d", or "never"`;
  return z.string({ error }).refine((text) => parseDuration(text) !== undefined, { error });
}

/** An http or https URL without a name and a password in it. */
export function httpUrl(expected: string) {
  return z
    .url({ protocol: /^https?$/, error: expected })
    .refine((url) => !/^\w+:\/\/[^/?#]*@/.test(url), { error: expected });
}

/** HTTP headers whose values are text; those that the program itself sends are refused. */
export function headers() {
  const expected = `an HTTP header that a request may add; not ${formatNames(reservedHeaders)}`;
  const name = z.string({ error: expected }).refine(isAddableHeader, { error: expected });
  const value = pattern(/^[!-~]([ -~]*[!-~])?$/, "one line of printable ASCII text");
  return z.record(name, value, { error: 'a table of headers, e.g. { "x-team" = "a" }' });
}

/** The credential sets the authentication, and the HTTP client the framing of a message. */
const reservedHeaders = [
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "x-goog-api-key",
  "host",
  "connection",
  "content-length",
  "content-type",
  "content-encoding",
  "transfer-encoding",
  "upgrade",
  "expect",
  "te",
];

function isAddableHeader(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !reservedHeaders.includes(name.toLowerCase());
}

function isAllowedCredential(reference: string): boolean {
  const parsed = parseCredentialReference(reference);
  return parsed !== null && parsed.type !== gatewayKeyType;
}

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const minMs = unitsMs.m;
const maxMs = 365 * unitsMs.d;

/** The ms of "90s", "24h" or "7d"; null for "never"; undefined for text that is neither, or out of range. */
export function parseDuration(text: string): number | null | undefined {
  if (text === "never") return null;
  const ms = durationMs(text) ?? 0;
  return ms >= minMs && ms <= maxMs ? ms : undefined;
}

/** The ms of "90s", "24h" or "7d"; undefined for other text. */
export function durationMs(text: string): number | undefined {
  const [, count = "", unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const unitMs = new Map<string, number>(Object.entries(unitsMs)).get(unit);
  return unitMs && Number(count) * unitMs;
}

/** The text for a file, in the largest unit that leaves a whole number; a day is in hours. */
export function writtenDuration(ms: number | null): string {
  if (ms === null) return "never";
  if (ms > unitsMs.d && ms % unitsMs.d === 0) return `${ms / unitsMs.d}d`;
  for (const unit of ["h", "m"] as const) {
    if (ms % unitsMs[unit] === 0) return `${ms / unitsMs[unit]}${unit}`;
  }
  return `${ms / unitsMs.s}s`;
}

/** Whether a text is an IANA name; offsets that Intl accepts, such as `+02:00`, are not. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The machine's IANA time zone; UTC if its setting is not one. */
export function machineTimezone(): string {
  const { timeZone } = new Intl.DateTimeFormat("en").resolvedOptions();
  return isTimezone(timeZone) ? timeZone : "UTC";
}
