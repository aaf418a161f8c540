import { withHiddenShown } from "../../../features/skills/hidden-characters.ts";
import type { AuditEntryView } from "../../../features/people/audit-report.ts";
import { answerText, personText, whoText } from "../../../foundation/contracts/questions.ts";
import type { Answer, Person } from "../../../foundation/contracts/questions.ts";
import type { QuestionView } from "../../../foundation/contracts/question-views.ts";

/** A text of a run for a person who decides by it: nothing of it is hidden. */
export const shownText = withHiddenShown;

/** An answer to a question, in words. */
export function shownAnswer({ kind }: Pick<QuestionView, "kind">, answer: Answer): string {
  return withHiddenShown(answerText(kind, answer));
}

/** `Ada via Slack`, or `by the dashboard`. */
export function byText(by: Person): string {
  return by.name === "" ? `by ${personText(by)}` : withHiddenShown(personText(by));
}

/** Acts of people in one line, the first one first: `trigger: dashboard from 10.0.0.7`. */
export function actsText(acts: readonly Pick<AuditEntryView, "act" | "by">[]): string {
  return withHiddenShown(
    acts
      .map(({ act, by }) => `${act}: ${whoText(by)}`)
      .reverse()
      .join(", "),
  );
}
