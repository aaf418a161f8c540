import type { Questions } from "../../features/people/questions.ts";
import { answersText, checkAnswer, formOfLink } from "../../foundation/contracts/questions.ts";
import type { Answer, Person, Question } from "../../foundation/contracts/questions.ts";
import type { createFileEdits } from "./file-edits.ts";
import { UserError } from "../../foundation/errors.ts";
import { pageOf } from "../../foundation/contracts/page-of.ts";
import { questionView } from "../../foundation/contracts/question-views.ts";
import type { QuestionView, QuestionsQuery } from "../../foundation/contracts/question-views.ts";

/** Lists questions, the latest first; `next` is the `before` of the next page. */
export const createQuestionList =
  ({ list }: Pick<Questions, "list">) =>
  ({ limit, ...filter }: QuestionsQuery) => {
    const { rows, next } = pageOf(limit, (most) => list({ ...filter, limit: most }));
    return { questions: rows.map(questionView), next };
  };

/** The operations on questions of runs to people. */
export const createQuestionOperations = (
  questions: Questions,
  allowAlways: ReturnType<typeof createFileEdits>["allowAlways"],
) => ({
  questions: createQuestionList(questions),
  /** A question by its id; null if it is not stored. */
  question: (id: string): QuestionView | null => {
    const found = questions.find(id);
    return found && questionView(found);
  },
  /**
   * Answers a question. Rejects with UserError `unknown_question`, `malformed` or `answered`, which says who was
   * first. A link or an API token can't allow always. To allow always first edits the agent's file: if it can't be edited,
   * rejects as `editFile`, and the question stays open; if the answer is not the first, the edit is undone.
   */
  answerQuestion: async (id: string, answer: Answer, by: Person): Promise<QuestionView> => {
    const question = questions.find(id);
    const isAlways =
      question?.state === "open" && question.kind !== "ask" && isAlwaysIn(question, answer);
    if (isAlways && (by.via === "link" || by.via === "token")) {
      const accepted = answersText(formOfLink(question));
      throw new UserError("malformed", `a ${by.via} takes ${accepted}; "always" needs a login`);
    }
    if (!isAlways) return questionView(await questions.answer(id, answer, by));
    const undo = await allowAlways(question);
    try {
      return questionView(await questions.answer(id, answer, by));
    } catch (error) {
      await undo();
      throw error;
    }
  },
});

function isAlwaysIn({ form }: Question, answer: Answer): boolean {
  const checked = checkAnswer(form, answer);
  return typeof checked !== "string" && checked.value === "always";
}
