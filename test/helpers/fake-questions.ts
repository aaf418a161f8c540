import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { checkAnswer } from "../../src/foundation/contracts/questions.ts";
import { UserError } from "../../src/foundation/errors.ts";
import type { Operations } from "../../src/interfaces/operations/operations.ts";

/** An open question of `dev-abcdefgh`. */
export function aQuestionView(values: Partial<QuestionView> = {}): QuestionView {
  return {
    id: "0193a1b2-0000-7000-8000-000000000009",
    kind: "ask",
    agent: "dev",
    gates: [],
    instanceId: "dev-abcdefgh",
    subject: "dev-abcdefgh/ask/1",
    prompt: "Deploy 1.4?",
    form: { kind: "choice", choices: ["yes", "no"] },
    fallback: null,
    at: "2026-11-22T08:00:00.000Z",
    until: "2026-11-23T08:00:00.000Z",
    state: "open",
    answer: null,
    answeredAt: null,
    by: null,
    ...values,
  };
}

/** Operations on these questions; the first answer counts. */
export function fakeQuestionOperations(
  questions: QuestionView[],
): Pick<Operations, "question" | "questions" | "answerQuestion"> {
  return {
    questions: ({ state, agent, limit, before }) => {
      const found = questions.filter(
        (one) =>
          (state === undefined || (one.state === "open") === (state === "open")) &&
          (agent ?? one.agent) === one.agent,
      );
      const from = found.findIndex(({ id }) => id === before) + 1;
      const page = found.slice(from, from + limit);
      return {
        questions: page,
        next: from + limit < found.length ? (page.at(-1)?.id ?? null) : null,
      };
    },
    question: (id) => questions.find((one) => one.id === id) ?? null,
    answerQuestion: (id, given, by) => {
      const index = questions.findIndex((one) => one.id === id);
      const question = questions[index];
      if (question === undefined) {
        return Promise.reject(new UserError("unknown_question", `there is no question ${id}`));
      }
      if (question.state !== "open") {
        return Promise.reject(new UserError("answered", "the dashboard answered at noon"));
      }
      const checked = checkAnswer(question.form, given);
      if (typeof checked === "string") {
        return Promise.reject(new UserError("malformed", `it is not ${checked}`));
      }
      const answeredAt = new Date().toISOString();
      const answer = checked.value;
      const answered = { ...question, state: "answered", answer, answeredAt, by } as const;
      questions[index] = answered;
      return Promise.resolve(answered);
    },
  };
}
