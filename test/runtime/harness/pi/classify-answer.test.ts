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
    "continue after an answer without text that was cut at the output limit",
    { stopReason: "length", hasText: false },
    { kind: "continue", why: "cut" },
  ],
  [
    "continue after a paused turn",
    { rawStopReason: "pause_turn" },
    { kind: "continue", why: "paused" },
  ],
  [
    "fail after a call over budget",
    error("403: the run's budget is spent", { status: 403, isOverBudget: true }),
    { kind: "fail", message: "403 the run's budget is spent" },
  ],
  ["fail after an aborted session", { stopReason: "aborted" }, { kind: "fail" }],
  [
    "fall back after Anthropic's refusal, with its explanation",
    { ...ended("refusal"), errorText: "Not this." },
    { kind: "fallback", message: "the model refused to answer: Not this." },
  ],
  ["fall back after Gemini's stop reason RECITATION", ended("RECITATION"), { kind: "fallback" }],
  [
    "fall back after a full context window",
    ended("model_context_window_exceeded"),
    { kind: "fallback" },
  ],
  ["retry after a malformed function call", ended("MALFORMED_FUNCTION_CALL"), { kind: "retry" }],
  ["retry after an upstream's network error", ended("network_error"), { kind: "retry" }],
  [
    "retry after a 429, once its retry-after has passed",
    error("429: no", { status: 429, retryAfterMs: 7000 }),
    { kind: "retry", retryAfterMs: 7000, cooldownMs: 7000 },
  ],
  [
    "retry after a 503, with a cooldown",
    error("503: no", { status: 503 }),
    { kind: "retry", cooldownMs: 60_000 },
  ],
  [
    "fall back after a 503 with shouldRetry = false",
    error("503: no", { status: 503, shouldRetry: false }),
    { kind: "fallback", cooldownMs: 60_000 },
  ],
  [
    "retry after a provider sent no data",
    error("aborted", { silentMs: 20_000 }),
    { kind: "retry", isSlow: true },
  ],
  [
    "retry after an overload error in a stream",
    error("x", { streamError: "overloaded_error" }),
    { kind: "retry" },
  ],
  ["retry after the error 502 in a stream", error("x", { streamError: "502" }), { kind: "retry" }],
  [
    "fall back after the error 400 in a stream",
    error("x", { streamError: "400" }),
    { kind: "fallback" },
  ],
  [
    "fall back after an authentication error in a stream",
    error("x", { streamError: "authentication_error" }),
    { kind: "fallback" },
  ],
  [
    "fall back after a request that was not sent",
    { stopReason: "error", errorText: "no key", exchange: newExchange() },
    { kind: "fallback", message: "no key" },
  ],
];

test.each(table)("classifyAnswer says to %s", (_name, part, verdict) => {
  expect(classifyAnswer(answer(part))).toMatchObject(verdict);
});
