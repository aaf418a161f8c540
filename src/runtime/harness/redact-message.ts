import type { RunMessage } from "../../foundation/contracts/run-messages.ts";
import { cut, cutStart } from "./message-writer.ts";

/** Characters of the line of a tool's call, and of what it returned. */
const maxCallCharacters = 320;
const maxReturnedCharacters = 8192;

/**
 * Only what people read: a secret that is an ordinary word must not break the message itself. Texts are cut after that, as
 * half of a secret is not recognized as one.
 */
export function redactMessage(
  message: RunMessage,
  redact: (value: unknown) => unknown,
): RunMessage {
  if (message.type === "status") return { ...message, text: redact(message.text) as string };
  if (message.type !== "log") return message;
  const text = redact(message.msg) as string;
  const msg = message.kind === "tool" ? cut(text, maxCallCharacters) : text;
  const fields = redact(message.fields ?? {}) as Record<string, unknown>;
  if (message.kind === "tool-result" && typeof fields.output === "string") {
    // A failure is explained at its end.
    const shorten = fields.isError === true ? cutStart : cut;
    fields.output = shorten(fields.output, maxReturnedCharacters);
  }
  return { ...message, msg, fields };
}
