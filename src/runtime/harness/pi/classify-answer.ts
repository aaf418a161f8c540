import {
  boundedCooldown,
  defaultCooldownMs,
  isTransientStatus,
  providerFailure,
} from "../provider-failure.ts";
import { maxModelAnswerBytes } from "../../../foundation/contracts/model-gateway.ts";
import { cut } from "../message-writer.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import type { Exchange } from "../bridge/exchanges.ts";

/** One answer of a model, as pi and the wire show it. */
export interface Answer {
  /** pi's stop reason: `stop`, `toolUse`, `length`, `error`, `aborted`. */
  readonly stopReason: string;
  /** The provider's stop reason, such as `end_turn` or `SAFETY`; null without one. */
  readonly rawStopReason: string | null;
  /** pi's error text. */
  readonly errorText: string;
  readonly hasText: boolean;
  readonly hasToolCall: boolean;
  readonly exchange: Exchange;
}

/** The reaction to an answer. The message is for a person and completes `model "x": …`. */
export type Verdict =
  | { readonly kind: "complete" }
  /** The session continues: the model is asked for the rest (`cut`), or once more (`empty`). */
  | {
      readonly kind: "continue";
      readonly why: "cut" | "empty" | "paused";
      readonly message: string;
    }
  /** The same request may succeed later. */
  | {
      readonly kind: "retry";
      readonly message: string;
      readonly retryAfterMs: number | null;
      /** The attempt used up its time limit. */
      readonly isSlow: boolean;
      readonly cooldownMs: number | null;
    }
  /** Asking this model again doesn't help; another may do better. */
  | { readonly kind: "fallback"; readonly message: string; readonly cooldownMs: number | null }
  | { readonly kind: "fail"; readonly message: string };

/** Endings that no provider means as success, by the provider's own word. The first that matches counts. */
const endings: readonly (readonly [RegExp, (word: string) => Verdict])[] = [
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
    (word) => retry(`the provider stopped the answer (${word})`),
  ],
];

/** Endings that are not errors: the error came from somewhere else. */
const ordinary =
  /^(stop|end|end_turn|stop_sequence|tool_use|tool_calls|function_call|max_tokens|length|model_length|pause_turn|completed|incomplete|failed|cancelled|in_progress|queued)$/i;

/** Codes and types of errors inside of a stream that a retry doesn't change. */
const permanent =
  /invalid|authentication|permission|not_found|unsupported|context_length|too_large|insufficient_quota|billing|policy/i;

/** Classifies an answer. Checks refusals first, because some providers report them as success. */
export function classifyAnswer(answer: Answer): Verdict {
  const { exchange, stopReason, rawStopReason } = answer;
  if (stopReason === "aborted") return { kind: "fail", message: "the session was aborted" };
  if (exchange.refusal !== "")
    return fallback(`the model refused: ${cut(exchange.refusal, maxCharacters)}`);
  if (exchange.blocked !== null) {
    return fallback(`the provider's content filter blocked the prompt (${exchange.blocked})`);
  }
  if (stopReason === "error") return ended(answer) ?? failed(answer);
  if (stopReason === "length") return continued("cut", "the answer was cut at its output limit");
  if (!answer.hasText && !answer.hasToolCall) return continued("empty", "the answer was empty");
  if (rawStopReason === "pause_turn") return continued("paused", "the provider paused the answer");
  return { kind: "complete" };
}

/** The verdict by the provider's stop reason; null if that is an ordinary one. */
function ended({ rawStopReason: word, errorText }: Answer): Verdict | null {
  if (word === null || ordinary.test(word)) return null;
  const [, verdict] = endings.find(([pattern]) => pattern.test(word)) ?? [];
  if (verdict === undefined) {
    return fallback(
      `the provider stopped the answer for a reason that is not known here (${word})`,
    );
  }
  const made = verdict(word);
  // Anthropic explains a refusal in its own text.
  const isExplained = word === "refusal" && errorText !== "";
  return isExplained && made.kind === "fallback"
    ? { ...made, message: `${made.message}: ${cut(errorText, maxCharacters)}` }
    : made;
}

function failed({ exchange, errorText }: Answer): Verdict {
  const { isSent, silentMs, status, retryAfterMs, streamError } = exchange;
  if (silentMs !== null) return silent(silentMs);
  if (exchange.isTooLong)
    return fallback(`the answer was longer than ${maxModelAnswerBytes / 1024 / 1024} MiB`);
  const isStream = status !== null && status < 400;
  const failure = providerFailure(errorText, { status: isStream ? null : status, retryAfterMs });
  if (!isSent) return fallback(failure.message);
  if (exchange.isOverBudget) return { kind: "fail", message: failure.message };
  if (isStream) return brokenStream(failure, streamError);
  const { message, cooldownMs } = failure;
  // Without any response the connection failed, whatever the client calls it.
  const isTransient =
    status === null ? true : failure.isTransient && exchange.shouldRetry !== false;
  const cooled = status === null ? boundedCooldown(null) : cooldownMs;
  if (!isTransient) return { kind: "fallback", message, cooldownMs };
  return retry(message, { retryAfterMs: failure.retryAfterMs, cooldownMs: cooled });
}

function silent(silentMs: number): Verdict {
  const message = `nothing came for ${seconds(silentMs)}`;
  return retry(message, { isSlow: true, cooldownMs: defaultCooldownMs });
}

/** The response began well: a later failure is transient, unless the provider's code is permanent. */
function brokenStream(failure: ProviderFailure, code: string | null): Verdict {
  const { message, retryAfterMs } = failure;
  const status = code !== null && /^\d{3}$/.test(code) ? Number(code) : failure.status;
  const isPermanent =
    status === null || status < 400
      ? code !== null && permanent.test(code)
      : !isTransientStatus(status);
  if (isPermanent) return fallback(message);
  return retry(message, { retryAfterMs, cooldownMs: boundedCooldown(retryAfterMs) });
}

function retry(
  message: string,
  {
    retryAfterMs = null,
    isSlow = false,
    cooldownMs = null,
  }: { retryAfterMs?: number | null; isSlow?: boolean; cooldownMs?: number | null } = {},
): Verdict {
  return { kind: "retry", message, retryAfterMs, isSlow, cooldownMs };
}

function fallback(message: string): Verdict {
  return { kind: "fallback", message, cooldownMs: null };
}

function continued(why: "cut" | "empty" | "paused", message: string): Verdict {
  return { kind: "continue", why, message };
}

const maxCharacters = 500;

/** `20 s`, `0.4 s` */
export function seconds(ms: number): string {
  return `${ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000)} s`;
}
