import type { NewToken } from "../../../features/tokens/token-report.ts";
import { newTokenSchema, tokenParams } from "../../../features/tokens/token-report.ts";
import { z } from "zod";
import { Problem } from "../../../foundation/errors.ts";
import { schemaProblems } from "../../../runtime/wire/requests/row.ts";
import { errorPage, newTokenPage } from "../../dashboard/card-pages.tsx";
import { askedToken, page } from "../../dashboard/pages/tokens/page.tsx";
import { sendLivePage, sendPage } from "../../dashboard/send-page.tsx";
import { createToken, removeToken } from "../../../features/tokens/operations.ts";
import { performAs } from "../../../foundation/perform.ts";
import { personOf } from "../auth.ts";
import { frameOf } from "../page-data.ts";
import { problemOf } from "../problem.ts";
import { formType } from "./login.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";

const { post } = routesOf("Tokens");
/** The page of the tokens. */
export const tokenPages = (deps: GatewayDeps) => [
  routesOf("Pages").get("/dashboard/tokens", {
    summary: "The API tokens, and a form for a new one",
    produces: "text/html",
    handle: (_request, reply) =>
      sendLivePage(reply, page, { frame: frameOf(deps), report: deps.context.tokens.list() }),
  }),
];

/** The forms of that page for browsers without script. */
export const tokenFormRoutes = (deps: GatewayDeps) => [
  post("/dashboard/tokens", {
    summary: "Create an API token with a form",
    body: z.record(z.string(), z.string()),
    consumes: [formType],
    produces: "text/html",
    problems: [400, 404, 409, 503],
    handle: async (request, reply) => {
      try {
        const asked = parsedToken(request.body);
        const by = personOf(request);
        const created = await performAs(createToken, asked, deps.context, by);
        return await sendPage(reply, newTokenPage(created));
      } catch (error) {
        const problem = problemOf(error);
        return sendPage(reply, errorPage(problem), problem.status);
      }
    },
  }),
  post("/dashboard/tokens/:name/remove", {
    summary: "Remove an API token with a form",
    params: tokenParams,
    consumes: [formType],
    response: { 303: z.undefined() },
    problems: [404, 503],
    handle: async (request, reply) => {
      await performAs(removeToken, request.params, deps.context, personOf(request));
      return reply.redirect("/dashboard/tokens", 303);
    },
  }),
];

function parsedToken(form: Readonly<Record<string, string>>): NewToken {
  const fields = new Map(Object.entries(form));
  const { success, data, error } = newTokenSchema.safeParse(askedToken(fields));
  if (success) return data;
  throw new Problem("malformed", `The form is malformed: ${schemaProblems(error)}.`);
}
