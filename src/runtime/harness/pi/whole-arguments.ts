import type { AssistantMessage, AssistantMessageEventStream } from "@earendil-works/pi-ai";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { isWholeObject } from "../../wire/json.ts";

/** The error that the model receives instead of a result. */
const reason =
  "The arguments of this call are not whole JSON; it was not executed. Send the call again with all of its arguments.";

/** The answer at the end of a stream, and the raw arguments of its tool calls, by their index. */
export async function readStream(stream: AssistantMessageEventStream) {
  const sent = new Map<number, string>();
  for await (const event of stream) {
    if (event.type !== "toolcall_delta") continue;
    sent.set(event.contentIndex, (sent.get(event.contentIndex) ?? "") + event.delta);
  }
  return { message: await stream.result(), sent };
}

/**
 * Blocks tool calls with truncated arguments: pi repairs the JSON, and would execute `rm -rf /a/` instead of the
 * intended `rm -rf /a/b`.
 */
export function createArgumentsCheck() {
  const cut = new Set<string>();
  return {
    /**
     * Checks the calls of an answer: their pieces and, if the API repeats them, the complete arguments. `cutCalls` are
     * the ids of calls that the gateway saw cut.
     */
    take: (
      { content }: AssistantMessage,
      sent: ReadonlyMap<number, string>,
      cutCalls: readonly string[],
    ): void => {
      for (const [index, part] of content.entries()) {
        if (part.type !== "toolCall") continue;
        // pi appends the item's id to that of the call.
        const [callId = ""] = part.id.split("|");
        const isWhole = isWholeObject(sent.get(index) ?? "") && !cutCalls.includes(callId);
        if (isWhole) cut.delete(part.id);
        else cut.add(part.id);
      }
    },
    extension: ((pi) => {
      pi.on("tool_call", ({ toolCallId }) =>
        cut.has(toolCallId) ? { block: true, reason } : undefined,
      );
    }) satisfies ExtensionFactory,
  };
}

export type ArgumentsCheck = ReturnType<typeof createArgumentsCheck>;
