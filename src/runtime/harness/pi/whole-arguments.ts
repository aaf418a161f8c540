import type { AssistantMessage, AssistantMessageEventStream } from "@earendil-works/pi-ai";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { finalArguments } from "./watched-fetch.ts";

/** What the model reads in place of a result. */
const reason =
  "The arguments of this call are not whole JSON; it was not executed. Send the call again with all of its arguments.";

/**
 * Blocks tool calls whose arguments came cut: pi repairs what it gets, and would execute `rm -rf /a/` of an intended
 * `rm -rf /a/b`.
 */
export function createArgumentsCheck() {
  const cut = new Set<string>();
  return {
    /** The answer at the end of a stream, to be read inside of its `watchExchange`. */
    read: async (stream: AssistantMessageEventStream): Promise<AssistantMessage> => {
      const sent = new Map<number, string>();
      for await (const event of stream) {
        if (event.type !== "toolcall_delta") continue;
        sent.set(event.contentIndex, (sent.get(event.contentIndex) ?? "") + event.delta);
      }
      const message = await stream.result();
      for (const [index, part] of message.content.entries()) {
        if (part.type !== "toolCall") continue;
        // pi adds the item's id to the one of the call.
        const [callId = ""] = part.id.split("|");
        const given = finalArguments(callId) ?? sent.get(index) ?? "";
        if (isWhole(given)) cut.delete(part.id);
        else cut.add(part.id);
      }
      return message;
    },
    extension: ((pi) => {
      pi.on("tool_call", ({ toolCallId }) =>
        cut.has(toolCallId) ? { block: true, reason } : undefined,
      );
    }) satisfies ExtensionFactory,
  };
}

/** Empty arguments stand for none; a tool that needs some refuses them by its schema. */
function isWhole(json: string): boolean {
  if (json.trim() === "") return true;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
