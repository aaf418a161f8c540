import { noMoneyCode } from "../../../foundation/contracts/model-gateway.ts";
import type { ModelFailure, ModelVerdict } from "../../wire/protocol.ts";
import { durationText } from "../../../../streams/duration-text.ts";
import { secondsText } from "../../../foundation/contracts/format.ts";
import type { AnswerFacts } from "./answer-facts.ts";
import type { SeenOfCall } from "./answer-tap.ts";
import { isPassing, type GatewayProblem } from "./gateway-problem.ts";
import {
  boundedCooldown,
  isTransientStatus,
  messageIn,
  retryAfterIn,
  retryAfterOf,
} from "./provider-failure.ts";

/** Endings that no provider means as success, by the provider's own word. The first that matches counts. */
const endings: readonly (readonly [RegExp, (word: string) => ModelFailure])[] = [
  [/^refusal$/, () => fallback("the model refused to answer")],
  [
    /content_?filter|safety|recitation|blocklist|prohibited|^spii$|^sensitive$|^language$|moderation/i,
    (word) => fallback(`the provider's content filter stopped the answer (${word})`),
  ],
  [
    /context_window_exceeded/,
    () => fallback("the conversation is longer than the model's context window"),
  ],
  [
    /^(malformed|unexpected|too_many)_|^(error|network_error|other|finish_reason_unspecified)$/i,
    (word) => ({ kind: "retry", message: `the provider stopped the answer (${word})` }),
  ],
  [/./, (word) => fallback(`the provider stopped the answer for an unknown reason (${word})`)],
];

/** Endings that are not failures, or whose failure the provider reports in another field. */
const ordinary =
  /^(stop|end|end_turn|stop_sequence|tool_use|tool_calls|function_call|max_tokens|max_output_tokens|length|model_length|pause_turn|completed|incomplete|failed|cancelled|in_progress|queued)$/i;

/** Endings of the Responses API's field that has a word from the first event on. */
const unfinished = /^(in_progress|queued)$/;

/** Codes and types of errors inside of a stream that a retry doesn't change. */
const permanent =
  /invalid|authentication|permission|not_found|unsupported|context_length|too_large|insufficient_quota|billing|policy/i;

/** The verdict on a call by its answer so far. Refusals come first: some providers report them as success. */
export function verdictOn(seen: SeenOfCall): ModelVerdict {
  const facts = seen.tap?.read().facts ?? seen.facts;
  return { failure: failureOf(seen, facts, Date.now()) };
}

/** Whether the provider has named the reason for the end of its answer, or an error. */
export function hasEnd({ tap, facts }: SeenOfCall): boolean {
  const read = tap?.read().facts ?? facts;
  return read.error !== null || read.blocked !== null || isWhole(read);
}

function isWhole({ stop }: AnswerFacts): boolean {
  return stop !== null && !unfinished.test(stop);
}

function failureOf(call: SeenOfCall, facts: AnswerFacts, now: number): ModelFailure | null {
  const { silentMs, problem, isBegun, status, refused } = call;
  const ended = endedBy(facts);
  if (ended !== null) return ended;
  if (silentMs !== null) {
    const message = `no data arrived for ${secondsText(silentMs)}`;
    return { kind: "retry", message, isSlow: true, cooldownMs: boundedCooldown(null) };
  }
  if (refused !== null && status !== null) {
    const { headers, text } = refused;
    const mayRetry = headers["x-should-retry"] !== "false";
    return byStatus(status, text, retryAfterOf(headers, now), mayRetry, now);
  }
  if (facts.error !== null) return inStream(facts.error, now);
  return problem === null || isWhole(facts) ? null : byProblem(problem, isBegun, now);
}

/** The verdict on an answer that the model or a filter ended; null if it is whole so far. */
function endedBy({ refusal, blocked, stop }: AnswerFacts): ModelFailure | null {
  if (refusal !== "") return fallback(`the model refused: ${refusal}`);
  if (blocked !== null) {
    return fallback(`the provider's content filter blocked the prompt (${blocked})`);
  }
  if (stop === null || ordinary.test(stop)) return null;
  return endings.find(([pattern]) => pattern.test(stop))?.[1](stop) ?? null;
}

const maxMessage = 2_000;

/** A longer wait is named in the reason, and a command line does not wait for it, in ms. */
export const longWaitMs = 60_000;

/** Matches an account without money or quota. If the provider names a time, the same words mean a rate limit. */
const exhausted =
  /insufficient_quota|quota exceeded|exceeded your current quota|billing|credit balance/i;

function byStatus(
  status: number,
  text: string,
  asked: number | null,
  mayRetry: boolean,
  now: number,
): ModelFailure {
  const retryAfterMs = asked ?? retryAfterIn(text, now);
  const isTransient = isTransientStatus(status);
  const helps = isTransient && mayRetry && (retryAfterMs !== null || !exhausted.test(text));
  const found = messageIn(text);
  const named = found.startsWith(`${status}`) ? found : `${status} ${found}`.trim();
  const wait = `; the provider asks to wait ${durationText(retryAfterMs ?? 0)}`;
  const message = named.slice(0, maxMessage) + ((retryAfterMs ?? 0) > longWaitMs ? wait : "");
  return {
    kind: helps ? "retry" : "fallback",
    message,
    ...(retryAfterMs !== null && { retryAfterMs }),
    ...(isTransient && { cooldownMs: boundedCooldown(retryAfterMs) }),
  };
}

/** Codes of a call that no budget pays: it can't pay another model either. */
const overBudgetCodes = [noMoneyCode, "too_many_turns"];

/** `isBegun`: in the middle of an answer, so that its status says nothing of the problem. */
function byProblem(problem: GatewayProblem, isBegun: boolean, now: number): ModelFailure {
  const { status, code, message } = problem;
  const mayRetry = isPassing(problem);
  if (isBegun && !mayRetry) return fallback(message);
  if (isBegun) return { kind: "retry", message, cooldownMs: boundedCooldown(null) };
  if (!overBudgetCodes.includes(code)) return byStatus(status, message, null, mayRetry, now);
  const lacksMoney = code === noMoneyCode && ({ lacksMoney: true } as const);
  return { kind: "fail", message: `${status} ${message}`, ...lacksMoney };
}

/** The answer began well: a later error is transient, unless its code is permanent. */
function inStream({ code, message }: NonNullable<AnswerFacts["error"]>, now: number): ModelFailure {
  const isStatus = code !== null && /^\d{3}$/.test(code);
  const isPermanent = isStatus ? !isTransientStatus(Number(code)) : permanent.test(code ?? "");
  if (isPermanent) return fallback(message);
  const asked = retryAfterIn(message, now);
  const cooldownMs = boundedCooldown(asked);
  return {
    kind: "retry",
    message,
    cooldownMs,
    ...(asked !== null && { retryAfterMs: asked }),
  };
}

function fallback(message: string): ModelFailure {
  return { kind: "fallback", message };
}
