import type { Billed, Ending, Reply } from "./wires/wire-format.ts";

/** The provider's behaviour for one request. */
export type Action =
  | { readonly reply: Reply; readonly billed?: Billed }
  | {
      readonly status: number;
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | "hang up before the first byte"
  | "hang up in the middle"
  | "say nothing"
  | "fall silent in the middle"
  | "send garbage"
  | "send an error event";

export interface Outcome {
  /** What the run's error says; null when it succeeded. */
  readonly error: RegExp | null;
  /** To the model itself. */
  readonly requests: number;
  /** Whether the fallback was used. */
  readonly fellBack?: boolean;
  /** In seconds, between the requests; with full backoff. */
  readonly waits?: readonly number[];
}

export interface AnswerRow {
  readonly name: string;
  /** One for each request; the last answers all that follow. None: nothing listens. */
  readonly actions: readonly Action[];
  readonly alone: Outcome;
  readonly withFallback: Outcome;
  readonly maxRetries?: number;
  /** How long the model may be silent. */
  readonly timeoutSeconds?: number;
}

const text: Action = { reply: { kind: "text", text: "Done." } };
const toolCall: Action = { reply: { kind: "tool", command: "true" } };
const refusal: Action = { reply: { kind: "refusal" } };
const ending = (kind: Ending, words: string): Action => ({
  reply: { kind: "ending", ending: kind, text: words },
});
const cut = ending("cut", "Half of it");
const empty = ending("normal", "");

const error = (status: number, message: string, headers: Readonly<Record<string, string>> = {}) => {
  const body = JSON.stringify({ type: "error", error: { type: "some_error", message } });
  return { status, body, headers: { "content-type": "application/json", ...headers } };
};

const page = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>";

const succeeds = (requests: number, waits: readonly number[] = []): Outcome => ({
  error: null,
  requests,
  waits,
});
const fails = (reason: RegExp, requests: number, waits: readonly number[] = []): Outcome => ({
  error: reason,
  requests,
  waits,
});
const fallsBack = (requests: number, waits: readonly number[] = []): Outcome => ({
  error: null,
  requests,
  fellBack: true,
  waits,
});

/** A row whose outcome doesn't depend on a fallback. */
const both = (name: string, actions: readonly Action[], outcome: Outcome): AnswerRow => ({
  name,
  actions,
  alone: outcome,
  withFallback: outcome,
});

/** A row that fails at the first request, and is helped by a fallback. */
const hopeless = (name: string, action: Action, reason: RegExp): AnswerRow => ({
  name,
  actions: [action],
  alone: fails(reason, 1),
  withFallback: fallsBack(1),
});

const backoff = [1, 2, 4];

export const answerTable: readonly AnswerRow[] = [
  both("a text", [text], succeeds(1)),
  both("a tool call, then a text", [toolCall, text], succeeds(2)),
  both("a text cut at the output limit, then the rest", [cut, text], succeeds(2)),
  {
    name: "a text cut again and again",
    actions: [cut],
    alone: fails(/cut at its output limit 4 times in a row/, 4),
    withFallback: fallsBack(4),
  },
  both("an empty answer, then a text", [empty, text], succeeds(2)),
  {
    name: "empty answers",
    actions: [empty],
    alone: fails(/the answer was empty 2 times in a row/, 2),
    withFallback: fallsBack(2),
  },
  hopeless("a refusal", refusal, /the model refused|blocked the prompt/),
  hopeless("a content filter", ending("filter", "How to"), /content filter stopped the answer/),
  hopeless(
    "a stop for an unknown reason",
    ending("unknown", "Well"),
    /not known here \(.*vanished/i,
  ),
  hopeless("400", error(400, "max_tokens is wrong"), /400 max_tokens is wrong$/),
  hopeless("401", error(401, "Incorrect API key"), /401 Incorrect API key$/),
  hopeless("403", error(403, "No access to this model"), /403 No access to this model$/),
  hopeless("404", error(404, "No such model"), /404 No such model$/),
  both("408, then a text", [error(408, "timed out"), text], succeeds(2, [1])),
  hopeless(
    "413, the conversation is too long",
    error(413, "prompt is too long: 300000 tokens > 200000 maximum"),
    /413 prompt is too long/,
  ),
  both(
    "429 with retry-after, then a text",
    [error(429, "slow down", { "retry-after": "7" }), text],
    succeeds(2, [7]),
  ),
  {
    name: "429 with a longer time in its text, then a text",
    actions: [error(429, "Rate limit reached. Please try again in 20s."), text],
    alone: succeeds(2, [20]),
    withFallback: fallsBack(1),
  },
  {
    name: "429 with a retry-after that is longer than the run",
    actions: [error(429, "slow down", { "retry-after": "3600" })],
    alone: fails(/429 slow down$/, 1),
    withFallback: fallsBack(1),
  },
  hopeless(
    "429 as the quota is used up",
    error(429, "You exceeded your current quota, please check your plan and billing details."),
    /429 You exceeded your current quota/,
  ),
  {
    name: "500 each time",
    actions: [error(500, "The server had an error")],
    alone: fails(/500 The server had an error \(after 4 attempts\)$/, 4, backoff),
    withFallback: fallsBack(4, backoff),
  },
  both(
    "502 as a page of a proxy, after a tool call",
    [toolCall, { status: 502, body: page, headers: { "content-type": "text/html" } }, text],
    succeeds(3, [1]),
  ),
  both(
    "529 and 503, then a text",
    [error(529, "Overloaded"), error(503, "no"), text],
    succeeds(3, [1, 2]),
  ),
  {
    name: "no connection",
    actions: [],
    alone: fails(/\(after 4 attempts\)$/, 0, backoff),
    withFallback: fallsBack(0, backoff),
  },
  both(
    "a connection reset, then a text",
    ["hang up before the first byte", text],
    succeeds(2, [1]),
  ),
  both("a stream that is cut, then a text", ["hang up in the middle", text], succeeds(2, [1])),
  {
    name: "silence before the first byte",
    actions: ["say nothing"],
    maxRetries: 1,
    timeoutSeconds: 20,
    alone: fails(/nothing came for 20 s \(after 2 attempts\)$/, 2, [1]),
    withFallback: fallsBack(1),
  },
  {
    name: "silence in the middle of a stream",
    actions: ["fall silent in the middle"],
    maxRetries: 0,
    timeoutSeconds: 20,
    alone: fails(/nothing came for 20 s$/, 1),
    withFallback: fallsBack(1),
  },
  both("a stream that is no JSON, then a text", ["send garbage", text], succeeds(2, [1])),
  both("an error event in a stream, then a text", ["send an error event", text], succeeds(2, [1])),
];
