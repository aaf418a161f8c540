import { createAssistantMessageEventStream } from "@earendil-works/pi-ai";
import type { AssistantMessage, AssistantMessageEventStream } from "@earendil-works/pi-ai";
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import { messageOf } from "../../../foundation/errors.ts";
import { answered } from "./attempts.ts";
import type { Answered, AttemptOptions } from "./attempts.ts";
import type { Verdict } from "./classify-answer.ts";
import type { ModelChain } from "./model-chain.ts";

/** pi's way to ask a model; it resolves to a stream that ends with one message, whatever happens. */
type Ask = AgentSession["agent"]["streamFunction"];

export interface RetryingOptions extends AttemptOptions {
  readonly chain: ModelChain;
  /** Reads a stream of pi to its end. */
  readonly read: (stream: AssistantMessageEventStream) => Promise<AssistantMessage>;
  /** The id of the session. Other requests of pi, such as a summary, are not part of the conversation. */
  readonly sessionId: string;
}

/** For clients that take no "never": the longest time that a timer of Node counts, in ms. */
const noTimeoutMs = 2 ** 31 - 1;

/**
 * Asks as `ask` does, again when that may help: pi sees the answer of the last attempt only, in one piece, so nothing
 * of a failed attempt reaches the conversation.
 */
export function retryingStream(ask: Ask, options: RetryingOptions): Ask {
  return (model, context, request) => {
    const timed = { ...request, timeoutMs: noTimeoutMs };
    const once = async () => options.read(await ask(model, context, timed));
    const stream = createAssistantMessageEventStream();
    const isSession = request?.sessionId === options.sessionId;
    void answered(once, options, request?.signal)
      .then((last) => (isSession ? judged(last, options.chain) : last.message))
      .catch((error: unknown) => brokenMessage(model, messageOf(error)))
      .then((message) => end(stream, message));
    return stream;
  };
}

/** The message as pi should take it, so that it neither continues nor stops on its own account. */
function judged({ message, verdict }: Answered, chain: ModelChain): AssistantMessage {
  const final = chain.judge(verdict);
  switch (final.kind) {
    case "complete":
      return message;
    case "continue":
      // pi has the tool calls of a cut answer repeated, and would summarize the conversation after a cut text.
      return message.stopReason === "length" && hasToolCall(message)
        ? message
        : { ...message, stopReason: "stop" };
    case "fail":
    case "fallback":
    case "retry":
      return failedMessage(message, final);
  }
}

/** pi recognizes by its own text that the conversation is too long, and shortens it. */
function failedMessage(message: AssistantMessage, verdict: Verdict): AssistantMessage {
  if (message.stopReason === "aborted" || message.stopReason === "error") return message;
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

/** For a failure of pi's own way to ask, before it made a message of it. */
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
