import { cut } from "./message-writer.ts";
import { retryAfterIn } from "./retry-after.ts";

/** From the HTTP response, where the harness saw it; the text alone is less exact. */
export interface ResponseFacts {
  readonly status: number | null;
  /** From the response's headers, in ms. */
  readonly retryAfterMs: number | null;
}

/** What went wrong with a model. */
export interface ProviderFailure {
  /** The provider's own message with its HTTP status, for a person. */
  readonly message: string;
  readonly status: number | null;
  /** Whether the same request may succeed later. */
  readonly isTransient: boolean;
  /** How long the provider asks to wait, in ms; null when it names no time. */
  readonly retryAfterMs: number | null;
  /** For how long the model should be left out, in ms; null when waiting doesn't help (a wrong key or request). */
  readonly cooldownMs: number | null;
}

export const defaultCooldownMs = 60_000;
const longestCooldownMs = 60 * 60_000;
const maxMessageCharacters = 2000;

const unavailable =
  /rate.?limit|too many requests|overloaded|quota|usage limit|unavailable|server.?error|internal.?error|connection|ECONN|ENOTFOUND|EAI_AGAIN|socket|fetch failed|time?d?.?out|terminated|ended without|stream ended/i;

/** The account's money or plan is used up. A provider that names a time means a rate limit by the same words. */
const exhausted =
  /insufficient_quota|quota exceeded|exceeded your current quota|billing|credit balance/i;

const noFacts: ResponseFacts = { status: null, retryAfterMs: null };

/**
 * Reads an error text such as `429: {"error":{"message":"…"}}`, `OpenAI API error (529): {…}`, `502 <html>…` or
 * `Connection error.`. The status is believed before the words; 408, 409, 425, 429 and 5xx, and failures to connect,
 * are a reason to wait.
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

/** In ms: what the provider asks for, else a minute; at least a second and at most an hour. */
export function boundedCooldown(retryAfterMs: number | null): number {
  const ms = Math.ceil(retryAfterMs ?? defaultCooldownMs);
  return Math.min(Math.max(ms, 1000), longestCooldownMs);
}

/** A status at the start, also behind the words that clients put before it. */
const statusAtStart =
  /^(?:[\w .,'-]{0,60}?(?:error|status|http)(?:\/\d(?:\.\d)?)?[\s:(]*)??\b([45]\d\d)\b\)?:?\s*([\s\S]*)$/i;

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

/** The title or first heading of a page, else its text: proxies answer with pages. */
function htmlText(page: string): string {
  const [, heading] = /<(?:title|h1)[^>]*>([\s\S]*?)<\//i.exec(page) ?? [];
  const text = (heading ?? page)
    .replace(/<[^>]*>/g, " ")
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
