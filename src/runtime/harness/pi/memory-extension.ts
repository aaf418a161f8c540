import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import type { RunMemory } from "../run-memory.ts";

/** Adds to the result of a tool call that the run's memories are over a limit, or no longer are. */
export function memoryExtension(memory: RunMemory): ExtensionFactory {
  return (pi) => {
    pi.on("tool_result", async ({ content, structuredContent }) => {
      const text = await memory.news();
      if (text === null) return;
      const added = { type: "text" as const, text };
      return {
        content: [...content, added],
        ...(structuredContent !== undefined && { structuredContent }),
      };
    });
  };
}
