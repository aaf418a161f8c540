import type { FastifyInstance } from "fastify";
import { historyPageSchema, historyQuerySchema } from "../../contracts/history.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";

/** The history of triggers, newest first, by page or by cursor. */
export function historyRoutes(app: FastifyInstance, { operations }: GatewayDeps): void {
  const schema = {
    tag: "History",
    summary: "Trigger history, newest first",
    description:
      "By `page`, or by cursor: `before` takes the `nextBefore` of an earlier page, stays put while entries arrive " +
      "and is fast at any depth. Without `deadLetter` all entries, `true` only what never ran and won't by itself.",
    querystring: historyQuerySchema,
    response: { 200: historyPageSchema },
    problems: [503],
  };
  withZod(app).get("/api/stats/triggers", { schema }, (request) =>
    operations.history(request.query),
  );
}
