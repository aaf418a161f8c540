import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import type { AnswerScript, ScriptedAnswer } from "../../foundation/contracts/model-gateway.ts";
import type { Script } from "../../foundation/contracts/job.ts";

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

type Turn = Script["turns"][number];

/** The answer after the last turn of a script. */
const afterTheScript: Turn = { text: "(end of script)" };

/** Text of one streamed piece, in code points. */
const pieceLength = 48;

/** Tokens of a text as the scripted model counts them: one for four characters, as a real one roughly does. */
function tokensOf(characters: number): number {
  return Math.ceil(characters / 4);
}

/**
 * The chunks of one streamed answer, ending with the one that carries the usage. `turn` is undefined after the
 * script's last one; `promptCharacters` is the length of the prompt.
 */
function replyChunks(
  model: string,
  turn: Turn | undefined,
  turnIndex: number,
  promptCharacters: number,
): readonly object[] {
  const { text = "", tools = [] } = turn ?? afterTheScript;
  const created = Math.floor(Date.now() / 1000);
  const chunk = (choices: readonly object[], more: object = {}) => ({
    id: `scripted-${turnIndex}`,
    object: "chat.completion.chunk",
    created,
    model,
    choices,
    ...more,
  });
  const calls = tools.map((tool, index) => toolCall(tool, index, turnIndex));
  const deltas = [
    { role: "assistant", content: "" },
    ...pieces(text).map((content) => ({ content })),
    ...calls.map((call) => ({ tool_calls: [call] })),
  ];
  const finish = calls.length > 0 ? "tool_calls" : "stop";
  const completion = tokensOf(text.length + JSON.stringify(tools).length - "[]".length);
  const prompt = tokensOf(promptCharacters);
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
  return [
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    chunk([], { usage }),
  ];
}

function toolCall(tool: NonNullable<Turn["tools"]>[number], index: number, turnIndex: number) {
  return {
    index,
    id: `call_${turnIndex}_${index}`,
    type: "function",
    function: { name: tool.name, arguments: JSON.stringify(tool.arguments) },
  };
}

function pieces(text: string): readonly string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${pieceLength}}`, "gu")) ?? [];
}
