import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { logPageSchema } from "../../../foundation/contracts/log-page.ts";
import type { LogPageAnswer } from "../../../foundation/contracts/log-page.ts";
import type { LogPage } from "../../../foundation/contracts/log-source.ts";
import { agentParams } from "../api/answers.ts";
import { filterOf, logFilterQuery } from "../api/log-filter.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentOf, unknownAgent } from "../names.ts";
import { isKnown } from "./logs.ts";

const position = z.string().max(500).optional();
const pageQuery = logFilterQuery.extend({
  before: position.meta({ description: "A position to read backward from; without it the end" }),
  after: position.meta({ description: "A position to read forward from" }),
  limit: z.coerce.number().int().min(1).max(1_000).default(100).meta({
    description: "How many lines at most",
  }),
});

/** Parts of an agent's whole log. */
export function logPageRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const api = withZod(app);
  const schema = {
    tag: "Logs",
    summary: "A part of an agent's whole log, filtered",
    description:
      "The newest lines that match, or those before or after a position. One request reads 32 MiB at most: with `older` " +
      "there may be more matches, also when it found none.",
    params: agentParams,
    querystring: pageQuery,
    response: { 200: logPageSchema },
    problems: [404],
  };
  api.get("/api/logs/agents/:name", { schema }, async (request): Promise<LogPageAnswer> => {
    const agent = agentOf(request);
    if (!(await isKnown(agent, deps))) throw unknownAgent(agent);
    const { instance = null, before = null, after, limit } = request.query;
    const page = await deps.logs.page({
      agent,
      instanceId: instance,
      filter: filterOf(request.query),
      lines: limit,
      from: after === undefined ? { before } : { after },
    });
    return answerOf(page);
  });
}

function answerOf({ lines, older, newer, atEnd, reachedAt }: LogPage): LogPageAnswer {
  const shown = lines.map(({ id, entry }) => ({ position: id, entry }));
  return { lines: shown, older, newer, atEnd, reachedAt };
}
