import type { WebhookEvent } from "../../streams/vocabulary.ts";
import { cut } from "./message-writer.ts";

/** Characters of a webhook's body text in the prompt; the whole is in the payload file. */
const maxBodyCharacters = 16_000;

/** The event with a body text that a model can take in. */
export function shortEvent<E extends Pick<WebhookEvent, "body">>(
  event: E,
  payloadFile: string | null,
): E {
  const { body } = event;
  if (body === null || body.length <= maxBodyCharacters) return event;
  const rest = payloadFile === null ? "" : `\n[cut here; the whole event is in ${payloadFile}]`;
  return { ...event, body: `${cut(body, maxBodyCharacters)}${rest}` };
}
