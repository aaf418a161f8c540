/** Units that providers write behind a number, in ms. */
const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Pairs of headers: what is left of a limit, and when the limit is reset. */
const limitHeaders = [
  ["x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
  ["x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
  ["x-ratelimit-remaining", "x-ratelimit-reset"],
  ["anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"],
  ["anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"],
] as const;

/**
 * How long a provider asks to wait, in ms, by the headers of its response: `retry-after-ms`, `retry-after` (seconds or
 * an HTTP date), else the reset of a limit of which nothing is left. Null when they name no time. `now` is epoch ms.
 */
export function retryAfterOf(headers: Headers, now: number): number | null {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms)) return Math.max(0, ms);
  const after = headers.get("retry-after");
  const asked = after === null ? null : timeIn(after, now);
  return asked ?? limitReset(headers, now);
}

function limitReset(headers: Headers, now: number): number | null {
  const resets = limitHeaders.flatMap(([remaining, reset]) => {
    const at = headers.get(remaining) === "0" ? headers.get(reset) : null;
    return (at === null ? null : timeIn(at, now)) ?? [];
  });
  return resets.length === 0 ? null : Math.max(...resets);
}

/**
 * The same from the text of an error: `retry-after: 30`, `"retryDelay": "35s"`, `try again in 1m30.5s`, `in 20
 * seconds`, `retry after Wed, 21 Oct 2026 07:28:00 GMT`. Null when it names no time.
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
  const parts = whole.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi);
  return [...parts].reduce((sum, [, count, unit = ""]) => sum + Number(count) * msOf(unit), 0);
}

function msOf(unit: string): number {
  const word = unit.toLowerCase();
  return unitMs[/^(ms|millis)/.test(word) ? "ms" : word.charAt(0)] ?? 0;
}

/** Larger numbers are epoch times: a limit of years means nothing. */
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
