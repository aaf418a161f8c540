import { z } from "zod";
import {
  answerSchema,
  questionSchema,
  questionsQuerySchema,
  questionsSchema,
} from "../../../foundation/contracts/question-views.ts";
import { UserError } from "../../../foundation/errors.ts";
import { routesOf } from "../api/route.ts";
import { personOf } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";

const params = z.object({ id: z.string().max(64).meta({ description: "The question's `id`" }) });
const { get, post } = routesOf("Questions");

/** Lists and answers the questions of runs. */
export const questionRoutes = ({ operations }: GatewayDeps) => [
  get("/api/questions", {
    summary: "The questions of runs to people",
    description: "Newest first; `before` takes the `next` of an earlier page.",
    query: questionsQuerySchema,
    response: { 200: questionsSchema },
    problems: [503],
    handle: ({ query }) => operations.questions(query),
  }),
  get("/api/questions/:id", {
    summary: "One question",
    isAbout: ({ params }, isMine) => isMine(operations.question(params.id)?.agent),
    params,
    response: { 200: questionSchema },
    problems: [404, 503],
    handle: ({ params: { id } }) => {
      const question = operations.question(id);
      if (question === null) throw new UserError("unknown_question", `there is no question ${id}`);
      return question;
    },
  }),
  post("/api/questions/:id/answer", {
    summary: "Answer a question",
    description: "The first answer counts; a later one is a 409 that says who was first.",
    scope: "answer",
    // An approval also opens the gates of the run's callers.
    isAbout: ({ params }, isMine) => {
      const question = operations.question(params.id);
      return question !== null && [question.agent, ...question.gates].every(isMine);
    },
    params,
    body: z.strictObject({ answer: answerSchema }),
    response: { 200: questionSchema },
    problems: [403, 404, 409, 503],
    handle: (request) =>
      operations.answerQuestion(request.params.id, request.body.answer, personOf(request)),
  }),
];
