import type { Ending, Reply, Usage } from "./wires/wire-format.ts";

/** The provider's behaviour for one request. */
export type Action =
  | { readonly reply: Reply; readonly usage?: Usage }
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
  /** In seconds, between the requests; with full backoff. */
  readonly waits?: readonly number[];
}

export interface AnswerRow {
  readonly name: string;
  /** One for each request; the last answers all that follow. None: nothing listens. */
  readonly actions: readonly Action[];
  readonly alone: Outcome;
  /** With another model behind it, which answers when this one is given up; where that is not as alone. */
  readonly beforeFallback?: Omit<Outcome, "error">;
  readonly maxRetries?: number;
  /** How long the model may be silent. */
  readonly timeoutSeconds?: number;
}

const text: Action = { reply: { kind: "text", text: "Done." } };
const toolCall: Action = { reply: { kind: "tool", command: "true" } };
const ending = (kind: Ending, words: string): Action => ({
  reply: { kind: "ending", ending: kind, text: words },
});
const cut = ending("cut", "Half of it");
const empty = ending("normal", "");

const error = (status: number, message: string, headers: Readonly<Record<string, string>> = {}) => {
  const body = JSON.stringify({ type: "error", error: { type: "some_error", message } });
  return { status, body, headers: { "content-type": "application/json", ...headers } };
};

const page = {
  status: 502,
  body: "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
  headers: { "content-type": "text/html" },
};

/** A row that succeeds. */
const succeeds = (
  name: string,
  actions: readonly Action[],
  waits: readonly number[] = [],
): AnswerRow => ({
  name,
  actions,
  alone: { error: null, requests: actions.length, waits },
});

/** A row that fails at the first request. */
const fails = (name: string, action: Action, error: RegExp): AnswerRow => ({
  name,
  actions: [action],
  alone: { error, requests: 1 },
});

const backoff = [1, 2, 4];

export const answerTable: readonly AnswerRow[] = [
  succeeds("a tool call, then a text", [toolCall, text]),
  succeeds("a text cut at the output limit, then the rest", [cut, text]),
  {
    name: "a text cut again and again",
    actions: [cut],
    alone: { error: /cut at its output limit 4 times in a row/, requests: 4 },
  },
  succeeds("an empty answer, then a text", [empty, text]),
  {
    name: "empty answers",
    actions: [empty],
    alone: { error: /the answer was empty 2 times in a row/, requests: 2 },
  },
  fails("a refusal", { reply: { kind: "refusal" } }, /the model refused|blocked the prompt/),
  fails("a content filter", ending("filter", "How to"), /content filter stopped the answer/),
  fails("a stop for an unknown reason", ending("unknown", "Well"), /unknown reason \(.*vanished/i),
  fails("400", error(400, "max_tokens is wrong"), /400 max_tokens is wrong$/),
  succeeds(
    "429 with retry-after, then a text",
    [error(429, "slow down", { "retry-after": "7" }), text],
    [7],
  ),
  {
    name: "429 with a longer time in its text, then a text",
    actions: [error(429, "Rate limit reached. Please try again in 20s."), text],
    alone: { error: null, requests: 2, waits: [20] },
    beforeFallback: { requests: 1 },
  },
  fails(
    "429 of a plan that is used up until after the run",
    error(429, "Usage limit reached for 5 hour. Your limit will reset at 2099-01-01 07:00:00"),
    /429 Usage limit reached/,
  ),
  {
    name: "500 each time",
    actions: [error(500, "The server had an error")],
    alone: {
      error: /500 The server had an error \(after 4 attempts\)$/,
      requests: 4,
      waits: backoff,
    },
  },
  succeeds("502 as a page of a proxy, after a tool call", [toolCall, page, text], [1]),
  {
    name: "no connection",
    actions: [],
    alone: { error: /\(after 4 attempts\)$/, requests: 0, waits: backoff },
  },
  succeeds("a connection reset, then a text", ["hang up before the first byte", text], [1]),
  succeeds("a stream that is cut, then a text", ["hang up in the middle", text], [1]),
  {
    name: "silence before the first byte",
    actions: ["say nothing"],
    maxRetries: 1,
    timeoutSeconds: 0.3,
    alone: { error: /no data arrived for 0.3 s \(after 2 attempts\)$/, requests: 2, waits: [1] },
    beforeFallback: { requests: 1 },
  },
  {
    name: "silence in the middle of a stream",
    actions: ["fall silent in the middle"],
    maxRetries: 0,
    timeoutSeconds: 0.3,
    alone: { error: /no data arrived for 0.3 s$/, requests: 1 },
  },
  succeeds("a stream that is no JSON, then a text", ["send garbage", text], [1]),
  succeeds("an error event in a stream, then a text", ["send an error event", text], [1]),
];
