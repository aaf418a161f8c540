import { counted } from "../../../foundation/contracts/format.ts";
import type { NewToken } from "../../../features/tokens/token-report.ts";
import {
  createdTokenSchema,
  newTokenSchema,
  tokenParams,
  tokensSchema,
} from "../../../features/tokens/token-report.ts";
import { z } from "zod";
import { emptyBody, unknownAgent } from "../api/params.ts";
import { UserError } from "../../../foundation/errors.ts";
import { schemaProblems } from "../../../runtime/wire/requests/row.ts";
import { errorPage, newTokenPage } from "../../dashboard/card-pages.tsx";
import { askedToken, page } from "../../dashboard/pages/tokens.tsx";
import { sendLivePage, sendPage } from "../../dashboard/send-page.tsx";
import { personOf } from "../auth.ts";
import { frameOf } from "../page-data.ts";
import { problemOf } from "../problem.ts";
import { formType } from "./login.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";

const { get, post } = routesOf("Tokens");
const removedSchema = z.object({ success: z.literal(true), name: z.string() });

/** Lists, creates and removes API tokens; no token may. */
export const tokenRoutes = (deps: GatewayDeps) => [
  get("/api/tokens", {
    summary: "The API tokens, without their secrets",
    scope: null,
    response: { 200: tokensSchema },
    handle: () => deps.tokens.list(),
  }),
  post("/api/tokens", {
    summary: "Create an API token",
    description:
      "The answer is the only one with its secret. An expired token of the same name is replaced.",
    body: newTokenSchema,
    response: { 201: createdTokenSchema },
    config: { isSecret: true },
    audit: ({ body }) => newAct(body),
    problems: [404, 409, 503],
    handle: async ({ body }, reply) => {
      void reply.header("cache-control", "no-store");
      return createToken(body, deps);
    },
  }),
  post("/api/tokens/:name/remove", {
    summary: "Remove an API token; requests and streams with it end at once",
    params: tokenParams,
    body: emptyBody,
    response: { 200: removedSchema },
    audit: ({ params }) => ({ act: "token-remove", detail: params.name }),
    problems: [404, 503],
    handle: async ({ params: { name } }) => {
      await deps.tokens.remove(name);
      return { success: true as const, name };
    },
  }),
];

/** The page of the tokens. */
export const tokenPages = (deps: GatewayDeps) => [
  routesOf("Pages").get("/dashboard/tokens", {
    summary: "The API tokens, and a form for a new one",
    produces: "text/html",
    handle: (_request, reply) =>
      sendLivePage(reply, page, { frame: frameOf(deps), report: deps.tokens.list() }),
  }),
];

/** The forms of that page for browsers without script. */
export const tokenFormRoutes = (deps: GatewayDeps) => [
  post("/dashboard/tokens", {
    summary: "Create an API token by a form",
    body: z.record(z.string(), z.string()),
    consumes: [formType],
    produces: "text/html",
    problems: [400, 404, 409, 503],
    handle: async ({ body, caller, ip }, reply) => {
      try {
        const asked = parsedToken(body);
        const created = await createToken(asked, deps);
        deps.operations.recordAct(newAct(asked), personOf({ caller, ip }));
        return await sendPage(reply, newTokenPage(created));
      } catch (error) {
        const problem = problemOf(error);
        return sendPage(reply, errorPage(problem), problem.status);
      }
    },
  }),
  post("/dashboard/tokens/:name/remove", {
    summary: "Remove an API token by a form",
    params: tokenParams,
    consumes: [formType],
    response: { 303: z.undefined() },
    audit: ({ params }) => ({ act: "token-remove", detail: params.name }),
    problems: [404, 503],
    handle: async ({ params: { name } }, reply) => {
      await deps.tokens.remove(name);
      return reply.redirect("/dashboard/tokens", 303);
    },
  }),
];

function parsedToken(form: Readonly<Record<string, string>>): NewToken {
  const fields = new Map(Object.entries(form));
  const { success, data, error } = newTokenSchema.safeParse(askedToken(fields));
  if (success) return data;
  throw new UserError("malformed", `The form is malformed: ${schemaProblems(error)}.`);
}

const newAct = (body: NewToken) => ({ act: "token-new", detail: tokenText(body) }) as const;

/** Creates a token for agents that exist: a misspelled name would only be noticed much later. */
function createToken(body: NewToken, { tokens, operations }: GatewayDeps) {
  const unknown = body.agents?.find((agent) => !operations.hasAgent(agent));
  if (unknown !== undefined) throw unknownAgent(unknown);
  return tokens.create(body);
}

/** A new token in one line: `claude: read, trigger of dev, for 90 days`. */
function tokenText({ name, scopes, agents, days }: NewToken): string {
  const whose = agents ? ` of ${agents.join(", ")}` : "";
  return `${name}: ${scopes.join(", ")}${whose}, for ${counted(days, "day")}`;
}
