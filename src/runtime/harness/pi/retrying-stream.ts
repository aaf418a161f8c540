import { randomUUID } from "node:crypto";
import { createAssistantMessageEventStream, type AssistantMessage } from "@earendil-works/pi-ai";
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import { messageOf } from "../../../foundation/errors.ts";
import { callHeader, silenceHeader } from "../../../foundation/contracts/model-gateway.ts";
import { judgeAnswer, noReason, type Verdict } from "./judge-answer.ts";
import type { ModelFailure } from "../../wire/protocol.ts";
import type { ModelChain } from "./model-chain.ts";
import { logTo, type Emit, type ModelEndpoint } from "../harness.ts";
import type { RunClock, Time } from "../run-clock.ts";
import { secondsText } from "../../../foundation/contracts/format.ts";
import { retriesOf, retryDelayMs, silenceLimitMs } from "../retry-policy.ts";

/** pi's function that calls a model; it resolves to a stream that always ends with one message. */
type Ask = AgentSession["agent"]["streamFunction"];

export interface RetryingOptions {
  readonly chain: ModelChain;
  readonly clock: RunClock;
  readonly time: Time;
  readonly emit: Emit;
  readonly endpoint: ModelEndpoint;
  /** The id of the session. Other requests of pi, such as a summary, are not part of the conversation. */
  readonly sessionId: string;
  /** Aborts the session. */
  readonly signal: AbortSignal;
  /** Resolves to whether the call rejected for its budget can now be paid; rejects like a request of the run. */
  readonly waitForMoney: (signal: AbortSignal) => Promise<boolean>;
  /** Called with each answer, including failed attempts: they may have cost tokens. */
  readonly onAnswer: (message: AssistantMessage) => void;
}

/** The longest timer of Node in ms, for clients without a "never". */
const noTimeoutMs = 2 ** 31 - 1;

type Request = Parameters<Ask>[2];
type OnPayload = NonNullable<NonNullable<Request>["onPayload"]>;
type AnswerOf = (request: Request) => Promise<Answered>;

/** Makes one request with additional headers; calls `onSend` before it is sent. */
type AskOnce = (headers: Readonly<Record<string, string>>, onSend: () => void) => ReturnType<Ask>;

/**
 * Like `ask`, with retries if they may help: pi sees only the answer of the last attempt, in one piece, so nothing of a
 * failed attempt reaches the conversation.
 */
export function retryingStream(ask: Ask, options: RetryingOptions): Ask {
  return (model, context, request) => {
    const answer: AnswerOf = (asked) => {
      const once: AskOnce = (marks, onSend) => {
        const headers = { ...asked?.headers, ...marks };
        const onPayload: OnPayload = (...payload) => {
          onSend();
          return asked?.onPayload?.(...payload);
        };
        return ask(model, context, { ...asked, headers, timeoutMs: noTimeoutMs, onPayload });
      };
      return answered(once, options, asked?.signal ?? options.signal);
    };
    const stream = createAssistantMessageEventStream();
    const isSession = request?.sessionId === options.sessionId;
    void (isSession ? judged(answer(request), options.chain) : summarized(answer, request))
      .catch((error: unknown) => brokenMessage(model, messageOf(error)))
      .then((message) => end(stream, message));
    return stream;
  };
}

/** A summary whose thoughts took up the whole answer is asked for once more, without thoughts. */
async function summarized(answer: AnswerOf, request: Request): Promise<AssistantMessage> {
  const { message } = await answer(request);
  const { reasoning, ...plain } = request ?? {};
  if (message.stopReason !== "length" || reasoning === undefined) return message;
  return (await answer(plain)).message;
}

/** The message for pi, so that it neither continues nor stops by itself. */
async function judged(answer: Promise<Answered>, chain: ModelChain): Promise<AssistantMessage> {
  const { message, verdict } = await answer;
  const final = chain.judge(verdict);
  switch (final.kind) {
    case "complete":
      return message;
    case "continue":
      // pi would repeat the tool calls of a cut answer, and summarize the conversation after a cut text.
      return message.stopReason === "length" && hasToolCall(message)
        ? message
        : { ...message, stopReason: "stop" };
    case "fail":
    case "fallback":
    case "retry":
      return failedMessage(message, final);
  }
}

/** Keeps pi's own error text, by which pi recognizes a conversation that is too long, and shortens it. */
function failedMessage(message: AssistantMessage, verdict: Verdict): AssistantMessage {
  if (message.stopReason === "aborted") return message;
  if (message.stopReason === "error") {
    const { errorMessage = "" } = message;
    // pi knows LiteLLM's words for it, but not its class, which stands before the provider's own words.
    const known = errorMessage.replace(
      "ContextWindowExceededError",
      "$& (context window exceeded)",
    );
    return { ...message, errorMessage: known };
  }
  const errorMessage = verdict.kind === "complete" ? "" : verdict.message;
  return { ...message, stopReason: "error", errorMessage };
}

function hasToolCall({ content }: AssistantMessage): boolean {
  return content.some(({ type }) => type === "toolCall");
}

function end(
  stream: ReturnType<typeof createAssistantMessageEventStream>,
  message: AssistantMessage,
): void {
  const { stopReason: reason } = message;
  if (reason === "error" || reason === "aborted" || reason === "pending") {
    const error = reason === "pending" ? "error" : reason;
    stream.push({ type: "error", reason: error, error: { ...message, stopReason: error } });
  } else {
    stream.push({ type: "done", reason, message });
  }
  stream.end();
}

/** The message for a failure of pi's own call, before pi made one. */
function brokenMessage(
  { api, provider, id }: Parameters<Ask>[0],
  errorMessage: string,
): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
  return {
    role: "assistant",
    content: [],
    api,
    provider,
    model: id,
    usage,
    stopReason: "error",
    errorMessage,
    timestamp: Date.now(),
  };
}

interface Answered {
  /** pi's message of the last attempt. */
  readonly message: AssistantMessage;
  readonly verdict: Verdict;
}

/** The verdict on a call that the scheduler does not know: it ended meanwhile. */
const interrupted: ModelFailure = {
  kind: "retry",
  message: "the scheduler stopped in the middle of the model's answer",
};

/** Calls the current model until it answers, or no further attempt makes sense. */
async function answered(
  ask: AskOnce,
  options: RetryingOptions,
  signal: AbortSignal,
): Promise<Answered> {
  const soFar = { retries: 0, waitedMs: 0 };
  let isRepeated = false;
  for (;;) {
    const { message, verdict } = await attempt(ask, options, signal);
    // A call that lacked money is repeated once a budget pays it, unless runs of the agent stop at their limits.
    const lacksMoney = verdict.kind === "fail" && verdict.lacksMoney === true;
    if (lacksMoney && (await options.waitForMoney(signal))) continue;
    // The call is repeated at once, and counts no retry.
    if (verdict === interrupted && !isRepeated) {
      isRepeated = true;
      logTo(options.emit, "run", 40, `${interrupted.message}; the model is asked once more`);
      continue;
    }
    const delayMs = delayAfter(verdict, soFar, options);
    if (delayMs === null) return { message, verdict: withAttempts(verdict, soFar.retries + 1) };
    soFar.retries += 1;
    logRetry(verdict, soFar.retries, delayMs, options);
    await options.time.wait(delayMs, signal);
    if (signal.aborted) return abortedBy(message);
    soFar.waitedMs += delayMs;
    isRepeated = false;
  }
}

async function attempt(
  ask: AskOnce,
  { chain, clock, endpoint, onAnswer }: RetryingOptions,
  signal: AbortSignal,
): Promise<Answered> {
  const call = randomUUID();
  const limitMs = silenceLimitMs(chain.limits().timeoutSeconds, {
    remainingMs: clock.remainingMs(),
    modelsLeft: chain.modelsLeft(),
  });
  const headers = { [callHeader]: call, [silenceHeader]: String(Math.ceil(limitMs)) };
  const request = { isSent: false };
  const stream = await ask(headers, () => (request.isSent = true));
  const message = await stream.result();
  onAnswer(message);
  if (message.stopReason === "aborted") return abortedBy(message);
  // pi's client failed by itself, and would again.
  if (!request.isSent) {
    return { message, verdict: { kind: "fallback", message: message.errorMessage ?? noReason } };
  }
  const found = await endpoint.verdictOn(call, signal).catch(() => null);
  if (signal.aborted) return abortedBy(message);
  if (found === null) return { message, verdict: interrupted };
  return { message, verdict: judgeAnswer(message, found.failure) };
}

function abortedBy(message: AssistantMessage): Answered {
  const verdict: Verdict = { kind: "fail", message: "the session was aborted" };
  return { message: { ...message, stopReason: "aborted" }, verdict };
}

function delayAfter(
  verdict: Verdict,
  soFar: { readonly retries: number; readonly waitedMs: number },
  { chain, clock, time }: RetryingOptions,
): number | null {
  const state = {
    ...soFar,
    maxRetries: retriesOf(chain.limits()),
    hasFallback: chain.modelsLeft() > 1,
    remainingMs: clock.remainingMs(),
  };
  return retryDelayMs(verdict, state, time.random());
}

function logRetry(
  verdict: Verdict,
  retry: number,
  delayMs: number,
  { chain, emit }: RetryingOptions,
): void {
  const model = chain.current().name;
  const reason = verdict.kind === "complete" ? "" : verdict.message;
  const attempts = `retry ${retry} of ${retriesOf(chain.limits())}`;
  const msg = `model "${model}": ${reason}; ${attempts} in ${secondsText(delayMs)}`;
  logTo(emit, "run", 40, msg, { model, reason, delayMs, retry });
}

function withAttempts(verdict: Verdict, attempts: number): Verdict {
  if (verdict.kind === "complete" || verdict.kind === "continue" || attempts === 1) return verdict;
  return { ...verdict, message: `${verdict.message} (after ${attempts} attempts)` };
}
