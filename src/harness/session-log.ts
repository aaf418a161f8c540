import type { AgentSessionEvent } from "@earendil-works/pi-coding-agent";
import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { Usage } from "../../streams/vocabulary.ts";
import type { Emit } from "./harness.ts";
import { storyOf } from "./story.ts";

/** What became of a session so far, as its events tell it. */
export interface SessionLog {
  /** Takes the session's events and writes them as messages of the run. */
  readonly onEvent: (event: AgentSessionEvent) => void;
  /** The model's latest message, null before the first. */
  readonly last: () => AssistantMessage | null;
  readonly usage: () => Omit<Usage, "model">;
}

/** Tells a session of pi from its events. */
export function sessionLog(emit: Emit, modelName: () => string): SessionLog {
  const story = storyOf(emit);
  const total = { tokens: 0, costUsd: 0, turns: 0 };
  let last: AssistantMessage | null = null;

  function onAssistant(message: AssistantMessage): void {
    last = message;
    for (const part of message.content) if (part.type === "text") story.said(part.text);
    const { input, output, cacheRead, cacheWrite, totalTokens: tokens, cost } = message.usage;
    total.tokens += tokens;
    total.costUsd += cost.total;
    if (message.stopReason === "error" || message.stopReason === "aborted") return;
    total.turns += 1;
    const costUsd = cost.total;
    story.used(modelName(), { tokens, input, output, cacheRead, cacheWrite, costUsd });
  }

  function onEvent(event: AgentSessionEvent): void {
    switch (event.type) {
      case "message_end":
        if (event.message.role === "assistant") onAssistant(event.message);
        break;
      case "tool_execution_start":
        story.toolCall(event.toolCallId, event.toolName, event.args);
        break;
      case "tool_execution_end":
        story.toolResult(event.toolCallId, resultText(event.result), event.isError, event.toolName);
        break;
      case "compaction_end":
        story.note(30, `conversation shortened (${event.reason})`);
        break;
    }
  }

  return { onEvent, last: () => last, usage: () => ({ ...total }) };
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
