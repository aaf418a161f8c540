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
  ["Gemini's recitation", ended("RECITATION"), { kind: "fallback" }],
  ["a full context window", ended("model_context_window_exceeded"), { kind: "fallback" }],
  ["a malformed function call", ended("MALFORMED_FUNCTION_CALL"), { kind: "retry" }],
  ["an upstream's network error", ended("network_error"), { kind: "retry" }],
  [
    "429 with a time",
    error("429: no", { status: 429, retryAfterMs: 7000 }),
    { kind: "retry", retryAfterMs: 7000, cooldownMs: 7000 },
  ],
  ["503", error("503: no", { status: 503 }), { kind: "retry", cooldownMs: 60_000 }],
  [
    "503 with the word that a retry is useless",
    error("503: no", { status: 503, shouldRetry: false }),
    { kind: "fallback", cooldownMs: 60_000 },
  ],
  ["silence", error("aborted", { silentMs: 20_000 }), { kind: "retry", isSlow: true }],
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

test.each(table)("the verdict on an answer is right for %s", (_name, part, verdict) => {
  expect(classifyAnswer(answer(part))).toMatchObject(verdict);
});
