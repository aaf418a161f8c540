import { counted } from "../../../foundation/contracts/format.ts";
import type { NewToken } from "../../../features/tokens/token-report.ts";
import {
  createdTokenSchema,
  newTokenSchema,
  tokenParams,
  tokensSchema,
} from "../../../features/tokens/token-report.ts";
import { z } from "zod";
import { emptyBody } from "../api/bodies.ts";
import { unknownAgent } from "../api/params.ts";
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
    audit: ({ body }) => ({ act: "token-new", detail: tokenText(body) }),
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
