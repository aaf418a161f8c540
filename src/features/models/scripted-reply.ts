import type { Script } from "../../foundation/contracts/job.ts";

type Turn = Script["turns"][number];

/** What a script says when it is asked for more turns than it has. */
const afterTheScript: Turn = { text: "(end of script)" };

/** Text of one streamed piece, in code points. */
const pieceLength = 48;

/** Tokens of a text as the scripted model counts them: one for four characters, as a real one roughly does. */
function tokensOf(characters: number): number {
  return Math.ceil(characters / 4);
}

/**
 * The chunks of one streamed answer, ending with the one that carries the usage. `turn` is undefined after the
 * script's last one; `promptCharacters` is the length of what was asked.
 */
export function replyChunks(
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
