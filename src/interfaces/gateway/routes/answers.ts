import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { answerSchema } from "../../../foundation/contracts/question-views.ts";
import type { Answer, Person } from "../../../foundation/contracts/questions.ts";
import { hasCode, UserError } from "../../../foundation/errors.ts";
import { answerPage } from "../../dashboard/answer-page.tsx";
import { errorPage } from "../../dashboard/card-pages.tsx";
import { sendPage } from "../../dashboard/send-page.tsx";
import { routesOf } from "../api/route.ts";
import { personOf } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import { problemOf } from "../problem.ts";
import { formType } from "./login.ts";

const { get, post } = routesOf("Questions");
const link = { params: z.object({ token: z.string().meta({ description: "The link's token" }) }) };
const answering = {
  body: z.object({ answer: answerSchema }),
  response: { 204: z.undefined(), 303: z.undefined() },
  problems: [403, 404, 409, 503],
  options: { bodyLimit: 32 * 1024 },
} as const;

/**
 * Answer links: the token is the authority, so these routes need no login, and a form of any origin may use it. Opening a
 * link changes nothing, because scanners of messages open it, too.
 */
export function answerLinkRoutes(deps: GatewayDeps) {
  const { answerLinks, operations } = deps;
  /** Throws the same error for a forged token and for a question that is no longer stored. */
  const opened = (token: string, reply: FastifyReply) => {
    void reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    const read = answerLinks.read(token);
    const question = read && operations.question(read.questionId);
    if (question !== null) return { question, target: read?.target ?? "" };
    throw new UserError("not_found", "There is no question at this address.");
  };
  return [
    get("/answer/:token", {
      summary: "The page of an answer link: the question, or its answer",
      ...link,
      produces: "text/html",
      problems: [404],
      handle: ({ params: { token } }, reply) => {
        const { question } = opened(token, reply);
        return sendPage(reply, answerPage(question, `/answer/${token}`));
      },
    }),
    post("/answer/:token", {
      ...answering,
      ...link,
      summary: "Answer by a link",
      description: "A form is answered with a redirect (303) or the page again, JSON with 204.",
      consumes: ["application/json", formType],
      handle: async (request, reply) => {
        const { params, body, ip } = request;
        const { question, target } = opened(params.token, reply);
        const page = `/answer/${params.token}`;
        const by: Person = { via: "link", name: target, from: ip };
        const problem = await problemOfAnswer(deps, question.id, body.answer, by);
        if (!isForm(request)) return sendNothing(reply, problem);
        // The page says who was first.
        if (problem === null || hasCode(problem, "answered")) return reply.redirect(page, 303);
        const { message, status } = problemOf(problem);
        return sendPage(reply, answerPage(question, page, message), status);
      },
    }),
  ];
}

/** The form of a question on a page whose script does not run. */
export const answerFormRoutes = (deps: GatewayDeps) => [
  post("/dashboard/questions/:id/answer", {
    ...answering,
    summary: "Answer a question by a form",
    params: z.object({ id: z.string().max(64) }),
    consumes: [formType],
    handle: async (request, reply) => {
      const { params, body } = request;
      const problem = await problemOfAnswer(deps, params.id, body.answer, personOf(request));
      if (problem === null || hasCode(problem, "answered")) {
        return reply.redirect("/dashboard/questions", 303);
      }
      const error = problemOf(problem);
      return sendPage(reply, errorPage(error), error.status);
    },
  }),
];

async function problemOfAnswer(
  { operations }: GatewayDeps,
  id: string,
  answer: Answer,
  by: Person,
): Promise<unknown> {
  try {
    await operations.answerQuestion(id, answer, by);
    return null;
  } catch (error) {
    return error;
  }
}

function isForm({ headers }: FastifyRequest): boolean {
  return headers["content-type"]?.startsWith(formType) === true;
}

function sendNothing(reply: FastifyReply, problem: unknown): FastifyReply {
  if (problem !== null) throw problem;
  return reply.send();
}
