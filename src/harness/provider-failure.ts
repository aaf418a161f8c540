/** What went wrong with a model, read from the text that the provider's client gives. */
export interface ProviderFailure {
  /** The provider's own message with its HTTP status, for a person. */
  readonly message: string;
  /** For how long the model should be left out, in ms; null when waiting doesn't help (a wrong key or request). */
  readonly cooldownMs: number | null;
}

const defaultCooldownMs = 60_000;
const longestCooldownMs = 60 * 60_000;
const maxMessageCharacters = 2000;

const unavailable =
  /rate.?limit|too many requests|overloaded|quota|usage limit|unavailable|server.?error|internal.?error|connection|ECONN|ENOTFOUND|EAI_AGAIN|socket|fetch failed|time?d?.?out|terminated|ended without|stream ended/i;

/**
 * Reads an error text such as `429: {"error":{"message":"…"}}`, `529 {…}` or `Connection error.`. The status is
 * believed before the words; 408, 409, 425, 429 and 5xx, and failures to connect, are a reason to wait.
 */
export function providerFailure(text: string): ProviderFailure {
  const [, code, rest] = /^(\d{3})\b:?\s*([\s\S]*)$/.exec(text.trim()) ?? [];
  const status = code === undefined ? null : Number(code);
  const detail = messageIn(rest ?? text);
  const message = status === null ? detail : `${status} ${detail}`.trim();
  return {
    message: message.slice(0, maxMessageCharacters),
    cooldownMs: waits(status, text) ? cooldownIn(text) : null,
  };
}

function waits(status: number | null, text: string): boolean {
  if (status === null) return unavailable.test(text);
  return [408, 409, 425, 429].includes(status) || status >= 500;
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

/** Providers say when to come back in words only: `retry-after: 30`, `try again in 1m30s`, `in 20 seconds`. */
function cooldownIn(text: string): number {
  const after = /retry.?after["'\s:=]+(\d+(?:\.\d+)?)/i.exec(text)?.[1];
  if (after !== undefined) return bounded(Number(after) * 1000);
  const [, minutes, seconds] =
    /(?:try again|retry|reset\w*) (?:in|after) (?:(\d+) ?m(?:in(?:ute)?s?)?(?![a-z]) ?)?(?:(\d+(?:\.\d+)?) ?s(?:ec(?:ond)?s?)?(?![a-z]))?/i.exec(
      text,
    ) ?? [];
  if (minutes === undefined && seconds === undefined) return defaultCooldownMs;
  return bounded((Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000);
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 1000), longestCooldownMs);
}
