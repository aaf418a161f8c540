import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { ModelFailure } from "../../wire/protocol.ts";

/** The reaction to an answer. The message is for a person and completes `model "x": …`. */
export type Verdict =
  | { readonly kind: "complete" }
  /** The session continues: the model is asked for the rest (`cut`), or once more (`empty`). */
  | {
      readonly kind: "continue";
      readonly why: "cut" | "empty" | "paused";
      readonly message: string;
    }
  | ModelFailure;

/** Models are skipped for this long if pi could not read an answer, in ms. */
const unreadableCooldownMs = 60_000;

/** Judges an answer by the gateway's verdict first: some providers report refusals as success. */
export function judgeAnswer(answer: AssistantMessage, failure: ModelFailure | null): Verdict {
  const { stopReason, rawStopReason, errorMessage = noReason, content } = answer;
  if (failure !== null) return failure;
  if (stopReason === "error") {
    return { kind: "retry", message: errorMessage, cooldownMs: unreadableCooldownMs };
  }
  if (stopReason === "length") return continued("cut", "the answer was cut at its output limit");
  if (!content.some(hasContent)) return continued("empty", "the answer was empty");
  if (rawStopReason === "pause_turn") return continued("paused", "the provider paused the answer");
  return { kind: "complete" };
}

export const noReason = "no reason given";

function hasContent(part: AssistantMessage["content"][number]): boolean {
  return part.type === "toolCall" || (part.type === "text" && part.text.trim() !== "");
}

function continued(why: "cut" | "empty" | "paused", message: string): Verdict {
  return { kind: "continue", why, message };
}
