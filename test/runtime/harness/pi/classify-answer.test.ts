import { describe, expect, it } from "vitest";
import { classifyAnswer } from "../../../../src/runtime/harness/pi/classify-answer.ts";
import type { Answer, Verdict } from "../../../../src/runtime/harness/pi/classify-answer.ts";
import { newExchange } from "../../../../src/runtime/harness/pi/stream-reader.ts";
import type { Exchange } from "../../../../src/runtime/harness/pi/stream-reader.ts";

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
  ["a text", {}, { kind: "complete" }],
  ["a tool call", { hasText: false, hasToolCall: true }, { kind: "complete" }],
  ["an empty answer", { hasText: false }, { kind: "continue", why: "empty" }],
  ["an answer cut at its limit", { stopReason: "length" }, { kind: "continue", why: "cut" }],
  [
    "a cut answer without any text",
    { stopReason: "length", hasText: false },
    { kind: "continue", why: "cut" },
  ],
  ["a paused turn", { rawStopReason: "pause_turn" }, { kind: "continue", why: "paused" }],
  [
    "a call that no budget pays",
    error("403: the run's budget is spent", { status: 403, isOverBudget: true }),
    { kind: "fail", message: "403 the run's budget is spent" },
  ],
  ["an aborted session", { stopReason: "aborted" }, { kind: "fail" }],
  [
    "Anthropic's refusal with an explanation",
    { ...ended("refusal"), errorText: "Not this." },
    { kind: "fallback", message: "the model refused to answer: Not this." },
  ],
  [
    "OpenAI's refusal, which ends as a success",
    sent({ refusal: "I can't." }),
    { kind: "fallback", message: "the model refused: I can't.", cooldownMs: null },
  ],
  [
    "Gemini's blocked prompt",
    { ...error("x"), ...sent({ blocked: "SAFETY" }) },
    { kind: "fallback" },
  ],
  ["Gemini's safety filter", ended("SAFETY"), { kind: "fallback" }],
  ["Gemini's recitation", ended("RECITATION"), { kind: "fallback" }],
  ["OpenAI's content filter", ended("content_filter"), { kind: "fallback" }],
  ["the same in responses", ended("incomplete.content_filter"), { kind: "fallback" }],
  ["a full context window", ended("model_context_window_exceeded"), { kind: "fallback" }],
  ["a malformed function call", ended("MALFORMED_FUNCTION_CALL"), { kind: "retry" }],
  ["an upstream's network error", ended("network_error"), { kind: "retry" }],
  ["a word that is not known", ended("eaten_by_dog"), { kind: "fallback" }],
  ["400", error("400: no", { status: 400 }), { kind: "fallback", cooldownMs: null }],
  ["401", error("401: no", { status: 401 }), { kind: "fallback", cooldownMs: null }],
  [
    "429 with a time",
    error("429: no", { status: 429, retryAfterMs: 7000 }),
    { kind: "retry", retryAfterMs: 7000, cooldownMs: 7000 },
  ],
  [
    "429 with a time in its text",
    error("429: try again in 9s", { status: 429 }),
    { kind: "retry", retryAfterMs: 9000 },
  ],
  [
    "429 as the quota is used up",
    error("insufficient_quota", { status: 429 }),
    { kind: "fallback" },
  ],
  ["503", error("503: no", { status: 503 }), { kind: "retry", cooldownMs: 60_000 }],
  [
    "503 with the word that a retry is useless",
    error("503: no", { status: 503, shouldRetry: false }),
    { kind: "fallback", cooldownMs: 60_000 },
  ],
  ["no connection", error("Connection error.", { status: null }), { kind: "retry" }],
  ["silence", error("aborted", { silentMs: 20_000 }), { kind: "retry", isSlow: true }],
  ["a stream that breaks", error("terminated"), { kind: "retry", cooldownMs: 60_000 }],
  ["an overload in a stream", error("x", { streamError: "overloaded_error" }), { kind: "retry" }],
  ["a status in a stream", error("x", { streamError: "502" }), { kind: "retry" }],
  ["a wrong request in a stream", error("x", { streamError: "400" }), { kind: "fallback" }],
  [
    "a wrong key in a stream",
    error("x", { streamError: "authentication_error" }),
    { kind: "fallback" },
  ],
  [
    "a request that was never sent",
    { stopReason: "error", errorText: "no key", exchange: newExchange() },
    { kind: "fallback", message: "no key" },
  ],
];

describe("the verdict on an answer", () => {
  it.each(table)("is right for %s", (_name, part, verdict) => {
    expect(classifyAnswer(answer(part))).toMatchObject(verdict);
  });
});
