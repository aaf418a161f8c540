import type { PeopleContext } from "../../src/features/people/operations.ts";
import { questionView, type QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { checkAnswer, type Question } from "../../src/foundation/contracts/questions.ts";
import { Problem } from "../../src/foundation/errors.ts";

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

/** The questions of a context, kept in this list; the first answer counts. */
export function fakeQuestions(views: QuestionView[]): PeopleContext["questions"] {
  const find = (id: string): Question | null => {
    const found = views.find((one) => one.id === id);
    return found === undefined ? null : questionOf(found);
  };
  return {
    find,
    list: ({ state, agent, limit, before }) => {
      const found = views.filter(
        (one) =>
          (state === undefined || (one.state === "open") === (state === "open")) &&
          (agent ?? one.agent) === one.agent,
      );
      const from = found.findIndex(({ id }) => id === before) + 1;
      return found.slice(from, from + limit).map(questionOf);
    },
    answer: async (id, given, by) => {
      const question = find(id);
      if (question === null) {
        throw new Problem("unknown_question", `there is no question ${id}`);
      }
      if (question.state !== "open") {
        throw new Problem("answered", "the dashboard answered at noon");
      }
      const checked = checkAnswer(question.form, given);
      if (typeof checked === "string") throw new Problem("malformed", `it is not ${checked}`);
      const answeredAt = Date.now();
      const answered = { ...question, state: "answered", answer: checked.value, answeredAt, by };
      views[views.findIndex((one) => one.id === id)] = questionView(answered as Question);
      return Promise.resolve(answered as Question);
    },
  };
}

function questionOf({ at, until, answeredAt, ...question }: QuestionView): Question {
  const ended = answeredAt === null ? null : Date.parse(answeredAt);
  return { ...question, at: Date.parse(at), until: Date.parse(until), answeredAt: ended };
}
