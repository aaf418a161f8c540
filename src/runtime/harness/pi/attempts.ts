import type { AssistantMessage } from "@earendil-works/pi-ai";
import { logTo } from "../harness.ts";
import type { Emit, ModelEndpoint } from "../harness.ts";
import type { RunClock } from "../run-clock.ts";
import { classifyAnswer, seconds } from "./classify-answer.ts";
import type { Answer, Verdict } from "./classify-answer.ts";
import type { Exchange } from "./stream-reader.ts";
import type { ModelChain } from "./model-chain.ts";
import { retriesOf } from "../retries.ts";
import { retryDelayMs, silenceLimitMs } from "./retry-policy.ts";
import type { Time } from "./time.ts";
import { watchExchange } from "./watched-fetch.ts";

export interface AttemptOptions {
  readonly chain: Pick<ModelChain, "current" | "limits" | "modelsLeft">;
  readonly clock: RunClock;
  readonly time: Time;
  readonly emit: Emit;
  readonly endpoint: Pick<ModelEndpoint, "interruptions">;
  /** Resolves to whether the call is paid by now that was refused for its budget; rejects like a request of the run. */
  readonly waitForMoney: (signal: AbortSignal | undefined) => Promise<boolean>;
  /** Called with each answer, that of a failed attempt too: it may have cost tokens. */
  readonly onAnswer: (message: AssistantMessage) => void;
}

export interface Answered {
  /** pi's message of the last attempt. */
  readonly message: AssistantMessage;
  readonly verdict: Verdict;
  /** Whether money alone was missing for the call. */
  readonly lacksMoney: boolean;
}

/** Asks the model in use until it answers, or no further attempt makes sense. */
export async function answered(
  ask: () => Promise<AssistantMessage>,
  options: AttemptOptions,
  signal: AbortSignal | undefined,
): Promise<Answered> {
  let waitedMs = 0;
  for (let retries = 0; ; retries += 1) {
    const once = () => uninterrupted(() => attempt(ask, options), options);
    const { message, verdict, lacksMoney } = await paid(once, options, signal);
    const delayMs = delayAfter(verdict, { retries, waitedMs }, options);
    if (delayMs === null) {
      return { message, verdict: withAttempts(verdict, retries + 1), lacksMoney };
    }
    logRetry(verdict, { retries, delayMs }, options);
    await options.time.wait(delayMs, signal);
    if (signal?.aborted === true) return abortedBy(message);
    waitedMs += delayMs;
  }
}

/** A call that lacked money is made again once a budget pays it, unless runs of the agent stop at their limits. */
async function paid(
  ask: () => Promise<Answered>,
  { waitForMoney }: AttemptOptions,
  signal: AbortSignal | undefined,
): Promise<Answered> {
  for (;;) {
    const given = await ask();
    if (!given.lacksMoney || !(await waitForMoney(signal))) return given;
  }
}

/** What the end of a scheduler cut is asked once more at once: neither the model nor the agent can help it. */
async function uninterrupted(
  ask: () => Promise<Answered>,
  { endpoint }: AttemptOptions,
): Promise<Answered> {
  const before = endpoint.interruptions();
  const first = await ask();
  const isCut = endpoint.interruptions() > before && first.verdict.kind === "retry";
  return isCut ? ask() : first;
}

async function attempt(
  ask: () => Promise<AssistantMessage>,
  { chain, clock, time, onAnswer }: AttemptOptions,
): Promise<Answered> {
  const limitMs = silenceLimitMs(chain.limits().timeoutSeconds, {
    remainingMs: clock.remainingMs(),
    modelsLeft: chain.modelsLeft(),
  });
  const { result: message, exchange } = await watchExchange(limitMs, time, ask);
  onAnswer(message);
  const { lacksMoney } = exchange;
  return { message, verdict: classifyAnswer(answerOf(message, exchange)), lacksMoney };
}

function answerOf(message: AssistantMessage, exchange: Exchange): Answer {
  const { stopReason, rawStopReason = null, errorMessage, content } = message;
  return {
    stopReason,
    rawStopReason,
    errorText: errorMessage ?? "no reason given",
    hasText: content.some((part) => part.type === "text" && part.text.trim() !== ""),
    hasToolCall: content.some(({ type }) => type === "toolCall"),
    exchange,
  };
}

function delayAfter(
  verdict: Verdict,
  soFar: { readonly retries: number; readonly waitedMs: number },
  { chain, clock, time }: AttemptOptions,
): number | null {
  const { retries, waitedMs } = soFar;
  const state = {
    retries,
    waitedMs,
    maxRetries: retriesOf(chain.limits()),
    hasFallback: chain.modelsLeft() > 1,
    remainingMs: clock.remainingMs(),
  };
  return retryDelayMs(verdict, state, time.random());
}

function logRetry(
  verdict: Verdict,
  { retries, delayMs }: { readonly retries: number; readonly delayMs: number },
  { chain, emit }: AttemptOptions,
): void {
  const model = chain.current().name;
  const reason = verdict.kind === "complete" ? "" : verdict.message;
  const attempts = `retry ${retries + 1} of ${retriesOf(chain.limits())}`;
  const msg = `model "${model}": ${reason}; ${attempts} in ${seconds(delayMs)}`;
  logTo(emit, "run", 40, msg, { model, reason, delayMs, retry: retries + 1 });
}

function withAttempts(verdict: Verdict, attempts: number): Verdict {
  if (verdict.kind === "complete" || verdict.kind === "continue" || attempts === 1) return verdict;
  return { ...verdict, message: `${verdict.message} (after ${attempts} attempts)` };
}

function abortedBy(message: AssistantMessage): Answered {
  const verdict: Verdict = { kind: "fail", message: "the session was aborted" };
  return { message: { ...message, stopReason: "aborted" }, verdict, lacksMoney: false };
}
