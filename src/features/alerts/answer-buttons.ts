import { answerText, type Answer, type Question } from "../../foundation/contracts/questions.ts";

/** A button that answers a question. */
export interface AnswerButton {
  readonly label: string;
  readonly answer: Answer;
  /** Identifies question and answer, in at most 64 bytes, as Telegram takes. */
  readonly data: string;
}

/** Messages show as much of a prompt, in characters; a longer one has no buttons, as it must be read whole first. */
export const maxShownPrompt = 700;
/** https://docs.slack.dev/reference/block-kit/block-elements/button-element */
const maxLabel = 75;

/** The buttons of a question; empty if its answer is typed, or a message can't show all of it, such as a difference. */
export function answerButtons({ id, kind, form, prompt }: Question): readonly AnswerButton[] {
  if (prompt.length > maxShownPrompt || kind === "memory") return [];
  const button = (label: string, answer: Answer, index: number): AnswerButton => ({
    label,
    answer,
    data: `${id}:${index}`,
  });
  if (form.kind === "boolean") return [button("Yes", true, 0), button("No", false, 1)];
  if (form.kind !== "choice" || form.choices.some(({ length }) => length > maxLabel)) return [];
  return form.choices.map((choice, index) => button(answerText(kind, choice), choice, index));
}
