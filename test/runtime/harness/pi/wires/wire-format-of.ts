import { completions } from "./completions.ts";
import { gemini } from "./gemini.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";
import type { WireFormat } from "./wire-format.ts";

/** By the path of a request. */
export function wireFormatOf(path: string): WireFormat {
  if (path.includes("/messages")) return messages;
  if (path.includes("/responses")) return responses;
  if (path.includes("streamGenerateContent")) return gemini;
  return completions;
}
