import type { AgentSessionEvent } from "@earendil-works/pi-coding-agent";
import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { Usage } from "../../../../streams/vocabulary.ts";
import type { Emit } from "../harness.ts";
import { transcriptOf } from "../transcript.ts";
import type { TranscriptUsage } from "../transcript.ts";

export type SessionLog = ReturnType<typeof sessionLog>;

/** Logs a session of pi by its events, and sums up its usage. */
export function sessionLog(emit: Emit, modelName: () => string) {
  const transcript = transcriptOf(emit);
  const total = { tokens: 0, costUsd: 0, turns: 0 };

  /** Takes every answer that a model gave, also one of a failed attempt and a summary: all of them cost tokens. */
  function onAnswer({ usage }: AssistantMessage): void {
    total.tokens += usage.totalTokens;
    total.costUsd += usage.cost.total;
  }

  function onMessage({ content, usage, stopReason }: AssistantMessage): void {
    for (const part of content) if (part.type === "text") transcript.assistant(part.text);
    if (stopReason === "error" || stopReason === "aborted") return;
    total.turns += 1;
    transcript.used(modelName(), usageOf(usage));
  }

  function onCompaction(event: Extract<AgentSessionEvent, { type: "compaction_end" }>): void {
    const { reason, result, aborted, errorMessage } = event;
    if (result === undefined) {
      if (!aborted)
        transcript.note(40, `the conversation was not shortened: ${errorMessage ?? reason}`);
      return;
    }
    transcript.note(30, `conversation shortened (${reason})`);
    if (result.usage !== undefined) transcript.used(modelName(), usageOf(result.usage));
  }

  function onEvent(event: AgentSessionEvent): void {
    switch (event.type) {
      case "message_end":
        if (event.message.role === "assistant") onMessage(event.message);
        break;
      case "tool_execution_start":
        transcript.toolCall(event.toolCallId, event.toolName, event.args);
        break;
      case "tool_execution_end":
        transcript.toolResult(
          event.toolCallId,
          resultText(event.result),
          event.isError,
          event.toolName,
        );
        break;
      case "compaction_end":
        onCompaction(event);
        break;
    }
  }

  const usage = (): Omit<Usage, "model"> => ({ ...total });
  return { onEvent, onAnswer, onOutput: transcript.toolOutput, usage, end: transcript.end };
}

function usageOf(usage: AssistantMessage["usage"]): TranscriptUsage {
  const { input, output, cacheRead, cacheWrite, totalTokens: tokens, cost } = usage;
  return { tokens, input, output, cacheRead, cacheWrite, costUsd: cost.total };
}

function resultText(result: unknown): string {
  const { content } = (result ?? {}) as { content?: unknown };
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => {
      const { text } = (part ?? {}) as { text?: unknown };
      return typeof text === "string" ? text : "[not text]";
    })
    .join("\n");
}
