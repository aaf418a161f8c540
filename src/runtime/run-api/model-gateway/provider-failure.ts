import type { IncomingHttpHeaders } from "node:http";
import { textAt } from "../../wire/json.ts";

const defaultCooldownMs = 60_000;
const longestCooldownMs = 60 * 60_000;

export function isTransientStatus(status: number): boolean {
  return [408, 409, 425, 429].includes(status) || status >= 500;
}

/** How long to skip a model, in ms: the provider's wait, else a minute; between a second and an hour. */
export function boundedCooldown(retryAfterMs: number | null): number {
  const ms = Math.ceil(retryAfterMs ?? defaultCooldownMs);
  return Math.min(Math.max(ms, 1000), longestCooldownMs);
}

/** The message of an error's body, for a person: JSON, a page of a proxy, or a text. */
export function messageIn(body: string): string {
  return isHtml(body) ? htmlText(body) : (messageOfJson(body) ?? body.trim());
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

/** Its `error.message` or `message`; null for another text. */
function messageOfJson(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text);
    return [textAt(body, "error", "message"), textAt(body, "message")].find(Boolean) ?? null;
  } catch {
    return null;
  }
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

/** Of a subscription, whose status is `allowed`, `allowed_warning` or `rejected`. */
const unified = "anthropic-ratelimit-unified";

function limitReset(headers: IncomingHttpHeaders, now: number): number | null {
  const subscription = headers[`${unified}-reset`];
  if (headers[`${unified}-status`] === "rejected" && subscription !== undefined) {
    return timeIn(String(subscription), now);
  }
  const resets = limitHeaders.flatMap(([remaining, reset]) => {
    const at = headers[remaining] === "0" ? headers[reset] : undefined;
    return (at === undefined ? null : timeIn(String(at), now)) ?? [];
  });
  return resets.length === 0 ? null : Math.max(...resets);
}

/**
 * How long a provider asks to wait, in ms, by an error text: `retry-after: 30`, `"retryDelay": "35s"`, `try again in
 * 1m30.5s`, `"resets_in_seconds": 7200`, `in 20 seconds`, `retry after Wed, 21 Oct 2026 07:28:00 GMT`, `will reset at 2026-10-21 07:28:00`. Null if it names no time.
 */
export function retryAfterIn(text: string, now: number): number | null {
  const named =
    /(?:retry.?(?:after|delay)|resets_(?:in_seconds|at))["'\s:=]+(?:in\s+)?([^"'}\n]+)/i.exec(
      text,
    )?.[1];
  const worded = /(?:try again|retry|resets?) (?:in|after|at) ([^"'}\n]+)/i.exec(text)?.[1];
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

const date =
  /^\s*([A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|\d{4}-\d\d-\d\d[T ][\d:]+\S*)/;

function dateIn(text: string, now: number): number | null {
  const [, written] = date.exec(text) ?? [];
  const isLocal = written !== undefined && /^[-\d]+ [\d:]+$/.test(written);
  const at = written === undefined ? Number.NaN : Date.parse(isLocal ? `${written}Z` : written);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
