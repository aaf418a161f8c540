import type { FastifyReply } from "fastify";
import { z } from "zod";
import { answerQuestion, viewQuestion } from "../../../features/people/operations.ts";
import { answerSchema } from "../../../foundation/contracts/question-views.ts";
import { hasCode, Problem } from "../../../foundation/errors.ts";
import { performAs } from "../../../foundation/perform.ts";
import { answerPage, errorPage } from "../../dashboard/card-pages.tsx";
import { sendPage, type Document } from "../../dashboard/send-page.tsx";
import { routesOf } from "../api/route.ts";
import { personOf } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import { problemOf } from "../problem.ts";
import { formType, isForm } from "./login.ts";

const { get, post } = routesOf("Questions");
const params = z.object({ token: z.string().meta({ description: "The link's token" }) });
const answering = {
  body: z.object({ answer: answerSchema }),
  response: { 204: z.undefined(), 303: z.undefined() },
  problems: [404, 409, 503],
  options: { bodyLimit: 32 * 1024 },
} as const;

/**
 * Answer links: the token is the authority, so these routes need no login, and a form of any origin may use it. Opening a
 * link changes nothing, because scanners of messages open it, too.
 */
export function answerLinkRoutes({ answerLinks, context }: GatewayDeps) {
  /** Throws the same error for a forged token and for a question that is no longer stored. */
  const opened = async (token: string, reply: FastifyReply) => {
    void reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    const read = answerLinks.read(token);
    const question = read && context.questions.find(read.questionId);
    if (question !== null) {
      return { question: await viewQuestion(question, context), target: read?.target ?? "" };
    }
    throw new Problem("not_found", "There is no question at this address.");
  };
  return [
    get("/answer/:token", {
      summary: "The page of an answer link: the question, or its answer",
      params,
      produces: "text/html",
      problems: [404],
      handle: async (request, reply) => {
        const { question } = await opened(request.params.token, reply);
        return sendPage(reply, answerPage(question, request.url));
      },
    }),
    post("/answer/:token", {
      ...answering,
      params,
      summary: "Answer with a link",
      description: "A form is answered with a redirect (303) or the page again, JSON with 204.",
      consumes: ["application/json", formType],
      handle: async (request, reply) => {
        const { question, target } = await opened(request.params.token, reply);
        const by = { via: "link", name: target, from: request.ip } as const;
        const input = { id: question.id, ...request.body };
        const answer = () => performAs(answerQuestion, input, context, by);
        const { url } = request;
        if (isForm(request)) {
          return showAfter(answer, reply, url, (why) => answerPage(question, url, why.message));
        }
        await answer();
        return reply.send();
      },
    }),
  ];
}

/** The form of a question on a page whose script does not run. */
export const answerFormRoutes = ({ context }: GatewayDeps) => [
  post("/dashboard/questions/:id/answer", {
    ...answering,
    summary: "Answer a question with a form",
    params: z.object({ id: z.string().max(64) }),
    consumes: [formType],
    handle: (request, reply) => {
      const { params, body } = request;
      const input = { ...params, ...body };
      const answer = () => performAs(answerQuestion, input, context, personOf(request));
      return showAfter(answer, reply, "/dashboard/questions", errorPage);
    },
  }),
];

/** Redirects to the page that shows the first answer; another error has a page of its own. */
async function showAfter(
  answer: () => Promise<unknown>,
  reply: FastifyReply,
  path: string,
  pageOf: (problem: Problem) => Document,
): Promise<FastifyReply> {
  try {
    await answer();
  } catch (error) {
    const problem = problemOf(error);
    if (!hasCode(problem, "answered")) return sendPage(reply, pageOf(problem), problem.status);
  }
  return reply.redirect(path, 303);
}
