import { at, isObject, listAt, textAt } from "../../wire/json.ts";

/** Facts in a model's answer that clients drop or misread. */
export interface AnswerFacts {
  /** The model's refusal text, which clients take for ordinary text or drop. */
  readonly refusal: string;
  /** Why the provider did not pass the prompt to the model. */
  readonly blocked: string | null;
  /** The provider's word for the end of the answer, such as `end_turn` or `SAFETY`. */
  readonly stop: string | null;
  /** An error inside of a stream. */
  readonly error: { readonly code: string | null; readonly message: string } | null;
}

export const noFacts: AnswerFacts = { refusal: "", blocked: null, stop: null, error: null };

/** Collects the facts of an answer by its events, in any wire format. */
export function createFacts() {
  let { refusal, blocked, stop, error } = noFacts;
  return {
    take: (event: unknown): void => {
      error ??= errorIn(event);
      blocked ??= short(textAt(event, "promptFeedback", "blockReason"));
      stop = short(stopIn(event)) ?? stop;
      refusal = (refusal + refusalIn(event)).slice(0, maxRefusal);
    },
    read: (): AnswerFacts => ({ refusal, blocked, stop, error }),
  };
}

/** Whether the answer ended with an error inside of a stream. */
export function hasFailed({ error, stop }: AnswerFacts): boolean {
  return error !== null || stop === "failed";
}

/** Limits of the facts. */
const maxRefusal = 500;
const maxMessage = 2_000;
const maxCode = 100;

function short(text: string | null): string | null {
  return text === null ? null : text.slice(0, maxCode);
}

/** All providers have an error in `error`, some as the event itself. */
function errorIn(event: unknown): AnswerFacts["error"] {
  const found = [at(event, "error"), at(event, "response", "error")].find(isObject);
  if (found === undefined && textAt(event, "type") !== "error") return null;
  const code = codeOf(found ?? { code: at(event, "code") });
  const message = textAt(found ?? event, "message") ?? code ?? "the provider reported an error";
  return { code: short(code), message: message.slice(0, maxMessage) };
}

/** The most exact detail of an error: a number, a code, a type. */
function codeOf(error: unknown): string | null {
  const code = at(error, "code");
  if (typeof code === "number") return String(code);
  const texts = [textAt(error, "code"), textAt(error, "type")];
  return texts.find((text) => text !== null && text !== "") ?? null;
}

/** A piece of a refusal in OpenAI's APIs, or Anthropic's explanation of one. */
function refusalIn(event: unknown): string {
  if (textAt(event, "type") === "response.refusal.delta") return textAt(event, "delta") ?? "";
  const [choice] = listAt(event, "choices");
  if (textAt(event, "delta", "stop_reason") === "refusal") {
    return textAt(event, "delta", "stop_details", "explanation") ?? "";
  }
  return textAt(choice, "delta", "refusal") ?? "";
}

/** In the words of each API. */
function stopIn(event: unknown): string | null {
  const [choice] = listAt(event, "choices");
  const [candidate] = listAt(event, "candidates");
  return (
    textAt(event, "delta", "stop_reason") ??
    textAt(choice, "finish_reason") ??
    textAt(candidate, "finishReason") ??
    textAt(event, "response", "incomplete_details", "reason") ??
    textAt(event, "response", "status")
  );
}
