import type { IncomingHttpHeaders } from "node:http";
import { cut } from "./message-writer.ts";

/** Facts of the HTTP response, if the harness saw it; they are more exact than the error text. */
export interface ResponseFacts {
  readonly status: number | null;
  /** From the response's headers, in ms. */
  readonly retryAfterMs: number | null;
}

/** A failure of a model's provider. */
export interface ProviderFailure {
  /** The provider's own message with its HTTP status, for a person. */
  readonly message: string;
  readonly status: number | null;
  /** Whether the same request may succeed later. */
  readonly isTransient: boolean;
  /** How long the provider asks to wait, in ms; null if it names no time. */
  readonly retryAfterMs: number | null;
  /** How long the model should be skipped, in ms; null if waiting doesn't help (a wrong key or request). */
  readonly cooldownMs: number | null;
}

export const defaultCooldownMs = 60_000;
const longestCooldownMs = 60 * 60_000;
const maxMessageCharacters = 2000;

const unavailable =
  /rate.?limit|too many requests|overloaded|quota|usage limit|unavailable|server.?error|internal.?error|connection|ECONN|ENOTFOUND|EAI_AGAIN|socket|fetch failed|time?d?.?out|terminated|ended without|stream ended/i;

/** Matches an account without money or quota. If the provider names a time, the same words mean a rate limit. */
const exhausted =
  /insufficient_quota|quota exceeded|exceeded your current quota|billing|credit balance/i;

const noFacts: ResponseFacts = { status: null, retryAfterMs: null };

/**
 * Reads an error text such as `429: {"error":{"message":"…"}}`, `OpenAI API error (529): {…}`, `502 <html>…` or
 * `Connection error.`. The status takes precedence over the words; 408, 409, 425, 429, 5xx and connection failures are
 * transient.
 */
export function providerFailure(
  text: string,
  facts: ResponseFacts = noFacts,
  now: number = Date.now(),
): ProviderFailure {
  const read = statusIn(text);
  const status = facts.status ?? read.status;
  const message = withStatus(status, messageIn(read.rest));
  const retryAfterMs = facts.retryAfterMs ?? retryAfterIn(text, now);
  const waits = status === null ? unavailable.test(text) : isTransientStatus(status);
  return {
    message: cut(message, maxMessageCharacters),
    status,
    isTransient: waits && (retryAfterMs !== null || !exhausted.test(text)),
    retryAfterMs,
    cooldownMs: waits ? boundedCooldown(retryAfterMs) : null,
  };
}

export function isTransientStatus(status: number): boolean {
  return [408, 409, 425, 429].includes(status) || status >= 500;
}

/** How long to skip a model, in ms: the provider's wait, else a minute; between a second and an hour. */
export function boundedCooldown(retryAfterMs: number | null): number {
  const ms = Math.ceil(retryAfterMs ?? defaultCooldownMs);
  return Math.min(Math.max(ms, 1000), longestCooldownMs);
}

/** Matches a status at the start, also after a prefix that clients add. */
const statusAtStart =
  /^(?:[\w .,'-]{0,60}?(?:error|status|http)(?:\/\d(?:\.\d)?)?[\s:(]*)??\b([45]\d\d)\b\)?:?\s*([\s\S]*)/i;

function statusIn(text: string): { readonly status: number | null; readonly rest: string } {
  const plain = isHtml(text) ? htmlText(text) : text.trim();
  const [, code, rest = ""] = statusAtStart.exec(plain) ?? [];
  if (code === undefined) return { status: null, rest: plain };
  return { status: Number(code), rest: isHtml(rest) ? withoutStatus(htmlText(rest), code) : rest };
}

function withStatus(status: number | null, detail: string): string {
  if (status === null || detail.startsWith(String(status))) return detail;
  return `${status} ${detail}`.trim();
}

function withoutStatus(text: string, code: string): string {
  return text.startsWith(code) ? text.slice(code.length).trim() : text;
}

function isHtml(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body)\b/i.test(text);
}

/** The title or first heading of a page, else its text: proxies answer with HTML pages. */
function htmlText(page: string): string {
  const [, heading] = /<(?:title|h1)[^<>]{0,500}>([\s\S]{0,1000}?)<\//i.exec(page) ?? [];
  const text = (heading ?? page)
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return text === "" ? page.trim() : text;
}

/** The `error.message` or `message` of a JSON body, else the text as it is. */
function messageIn(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    return textAt(body, ["error", "message"]) ?? textAt(body, ["message"]) ?? text.trim();
  } catch {
    return text.trim();
  }
}

function textAt(value: unknown, path: readonly string[]): string | null {
  const found = path.reduce<unknown>(
    (node, key) => (typeof node === "object" && node !== null ? Reflect.get(node, key) : undefined),
    value,
  );
  return typeof found === "string" && found !== "" ? found : null;
}

const defaultMaxRetries = 3;

/** How often one request to a model is retried; the default if `maxRetries` is null. */
export function retriesOf({ maxRetries }: { readonly maxRetries: number | null }): number {
  return maxRetries ?? defaultMaxRetries;
}

const firstDelayMs = 1000;
const longestDelayMs = 30_000;

/**
 * How long to wait before the next attempt, in ms: 1 s, 2 s, 4 s … up to 30 s, minus up to half by `random` (0 to 1),
 * so that runs that failed together don't retry together. `retries` counts earlier retries.
 */
export function backoffMs(retries: number, random: number): number {
  const delay = Math.min(firstDelayMs * 2 ** retries, longestDelayMs);
  return Math.round(delay * (1 - random / 2));
}

/** Units that providers write after a number, in ms. */
const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Pairs of headers: the remaining amount of a limit, and when the limit is reset. */
const limitHeaders = [
  ["x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
  ["x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
  ["x-ratelimit-remaining", "x-ratelimit-reset"],
  ["anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"],
  ["anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"],
] as const;

/**
 * How long a provider asks to wait, in ms, by the headers of its response: `retry-after-ms`, `retry-after` (seconds or
 * an HTTP date), else the reset of an exhausted limit. Null if they name no time. `now` is epoch ms.
 */
export function retryAfterOf(headers: IncomingHttpHeaders, now: number): number | null {
  const ms = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(ms)) return Math.max(0, ms);
  const after = headers["retry-after"];
  const asked = after === undefined ? null : timeIn(after, now);
  return asked ?? limitReset(headers, now);
}

function limitReset(headers: IncomingHttpHeaders, now: number): number | null {
  const resets = limitHeaders.flatMap(([remaining, reset]) => {
    const at = headers[remaining] === "0" ? headers[reset] : undefined;
    return (at === undefined ? null : timeIn(String(at), now)) ?? [];
  });
  return resets.length === 0 ? null : Math.max(...resets);
}

/**
 * How long a provider asks to wait, in ms, by an error text: `retry-after: 30`, `"retryDelay": "35s"`, `try again in
 * 1m30.5s`, `in 20 seconds`, `retry after Wed, 21 Oct 2026 07:28:00 GMT`. Null if it names no time.
 */
export function retryAfterIn(text: string, now: number): number | null {
  const named = /retry.?(?:after|delay)["'\s:=]+(?:in\s+)?([^"'}\n]+)/i.exec(text)?.[1];
  const worded = /(?:try again|retry|resets?) (?:in|after) ([^"'}\n]+)/i.exec(text)?.[1];
  for (const found of [named, worded]) {
    const ms = found === undefined ? null : timeIn(found, now);
    if (ms !== null) return ms;
  }
  return null;
}

/** The time at the start of a text, from now on, in ms: seconds, an epoch time, a duration or a date. */
function timeIn(text: string, now: number): number | null {
  return durationIn(text) ?? numberIn(text, now) ?? dateIn(text, now);
}

const duration =
  /^\s*(?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|sec(?:ond)?s?|m|min(?:ute)?s?|h(?:ours?)?|d(?:ays?)?)(?![a-z])[\s,]*)+/i;

function durationIn(text: string): number | null {
  const [whole] = duration.exec(text) ?? [];
  if (whole === undefined) return null;
  const parts = whole.matchAll(/(?<![\d.])(\d+(?:\.\d+)?)\s*([a-z]+)/gi);
  return [...parts].reduce((sum, [, count, unit = ""]) => sum + Number(count) * msOf(unit), 0);
}

function msOf(unit: string): number {
  const word = unit.toLowerCase();
  return unitMs[/^(ms|millis)/.test(word) ? "ms" : word.charAt(0)] ?? 0;
}

/** Numbers from here on are epoch times, because no provider asks to wait for years. */
const epochSeconds = 1e9;
const epochMs = 1e12;

function numberIn(text: string, now: number): number | null {
  const [, digits] = /^\s*(\d+(?:\.\d+)?)(?![\d\-:.a-z])/i.exec(text) ?? [];
  if (digits === undefined) return null;
  const value = Number(digits);
  if (value < epochSeconds) return value * 1000;
  return Math.max(0, (value < epochMs ? value * 1000 : value) - now);
}

const date = /^\s*([A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|\d{4}-\d\d-\d\dT\S+)/;

function dateIn(text: string, now: number): number | null {
  const [, written] = date.exec(text) ?? [];
  const at = written === undefined ? Number.NaN : Date.parse(written);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
