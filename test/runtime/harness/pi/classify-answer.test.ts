import { classifyAnswer } from "../../../../src/runtime/harness/pi/classify-answer.ts";
import type { Answer, Verdict } from "../../../../src/runtime/harness/pi/classify-answer.ts";
import { newExchange, type Exchange } from "../../../../src/runtime/harness/bridge/exchanges.ts";

const sent = (exchange: Partial<Exchange> = {}) => ({
  exchange: { ...newExchange(), isSent: true, status: 200, ...exchange },
});
const answer = (part: Partial<Answer>): Answer => ({
  stopReason: "stop",
  rawStopReason: null,
  errorText: "no reason given",
  hasText: true,
  hasToolCall: false,
  ...sent(),
  ...part,
});
const error = (errorText: string, exchange: Partial<Exchange> = {}) => ({
  stopReason: "error",
  errorText,
  ...sent(exchange),
});
const ended = (rawStopReason: string) => ({ stopReason: "error", rawStopReason });

const table: readonly (readonly [string, Partial<Answer>, Partial<Verdict>])[] = [
  [
    "an answer without text, cut at its limit: continue",
    { stopReason: "length", hasText: false },
    { kind: "continue", why: "cut" },
  ],
  ["a paused turn: continue", { rawStopReason: "pause_turn" }, { kind: "continue", why: "paused" }],
  [
    "a call over budget: fail",
    error("403: the run's budget is spent", { status: 403, isOverBudget: true }),
    { kind: "fail", message: "403 the run's budget is spent" },
  ],
  ["an aborted session: fail", { stopReason: "aborted" }, { kind: "fail" }],
  [
    "Anthropic's refusal: fall back, with its explanation",
    { ...ended("refusal"), errorText: "Not this." },
    { kind: "fallback", message: "the model refused to answer: Not this." },
  ],
  ["Gemini's recitation: fall back", ended("RECITATION"), { kind: "fallback" }],
  [
    "a full context window: fall back",
    ended("model_context_window_exceeded"),
    { kind: "fallback" },
  ],
  ["a malformed function call: retry", ended("MALFORMED_FUNCTION_CALL"), { kind: "retry" }],
  ["an upstream's network error: retry", ended("network_error"), { kind: "retry" }],
  [
    "429 with retry-after: retry after that time",
    error("429: no", { status: 429, retryAfterMs: 7000 }),
    { kind: "retry", retryAfterMs: 7000, cooldownMs: 7000 },
  ],
  [
    "503: retry, with a cooldown",
    error("503: no", { status: 503 }),
    { kind: "retry", cooldownMs: 60_000 },
  ],
  [
    "503 with shouldRetry false: fall back",
    error("503: no", { status: 503, shouldRetry: false }),
    { kind: "fallback", cooldownMs: 60_000 },
  ],
  [
    "a provider that sends no data: retry",
    error("aborted", { silentMs: 20_000 }),
    { kind: "retry", isSlow: true },
  ],
  [
    "an overload error in a stream: retry",
    error("x", { streamError: "overloaded_error" }),
    { kind: "retry" },
  ],
  ["the error 502 in a stream: retry", error("x", { streamError: "502" }), { kind: "retry" }],
  [
    "the error 400 in a stream: fall back",
    error("x", { streamError: "400" }),
    { kind: "fallback" },
  ],
  [
    "an authentication error in a stream: fall back",
    error("x", { streamError: "authentication_error" }),
    { kind: "fallback" },
  ],
  [
    "a request that was not sent: fall back",
    { stopReason: "error", errorText: "no key", exchange: newExchange() },
    { kind: "fallback", message: "no key" },
  ],
];

test.each(table)("classifyAnswer handles %s", (_name, part, verdict) => {
  expect(classifyAnswer(answer(part))).toMatchObject(verdict);
});
