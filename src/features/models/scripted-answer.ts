import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import type { AnswerScript, ScriptedAnswer } from "../../foundation/contracts/model-gateway.ts";
import { replyChunks } from "./scripted-reply.ts";

const chatRequestSchema = z.object({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string() })),
});

/**
 * Answers one request as an LLM would, streamed as server-sent events. The turn that answers is the number of assistant
 * messages in the request, so the script needs no state and a repeated request gets the same turn. Source of the wire
 * shape: OpenAI's "Chat Completions, streaming events" reference.
 */
export const answerScript: AnswerScript = async (script, body, signal) => {
  const chat = chatRequestSchema.safeParse(body);
  if (!chat.success) return errorAnswer(400, "the request is not a chat completion");
  const { model, messages } = chat.data;
  const turnIndex = messages.filter(({ role }) => role === "assistant").length;
  const turn = script.turns[turnIndex];
  if (turn?.delayMs !== undefined) await wait(turn.delayMs, undefined, { signal });
  if (turn?.status !== undefined) {
    return errorAnswer(turn.status, turn.error ?? `the script answers ${turn.status}`);
  }
  const chunks = replyChunks(model, turn, turnIndex, JSON.stringify(messages).length);
  return {
    status: 200,
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache" },
    body: [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"],
  };
};

/** In the shape that the OpenAI API gives errors. */
export function errorAnswer(status: number, message: string): ScriptedAnswer {
  return {
    status,
    headers: { "content-type": "application/json" },
    body: [JSON.stringify({ error: { message, type: "scripted_error", code: status } })],
  };
}
