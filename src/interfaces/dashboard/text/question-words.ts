import { withHiddenShown } from "../../../features/skills/hidden-characters.ts";
import { answerText, personText } from "../../../foundation/contracts/questions.ts";
import type { Answer, Person } from "../../../foundation/contracts/questions.ts";
import type { QuestionView } from "../../../foundation/contracts/question-views.ts";

/** A text of a run for a person who decides by it: nothing of it is hidden. */
export const shownText = withHiddenShown;

/** An answer to a question, in words. */
export function shownAnswer({ kind }: Pick<QuestionView, "kind">, answer: Answer): string {
  return withHiddenShown(answerText(kind, answer));
}

/** `Ada by Slack`, or `by the dashboard`. */
export function byText(by: Person): string {
  return by.name === "" ? `by ${personText(by)}` : withHiddenShown(personText(by));
}
