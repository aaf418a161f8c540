import type { FastifyInstance } from "fastify";
import {
  callTreeSchema,
  historyPageSchema,
  historyQuerySchema,
} from "../../../foundation/contracts/history.ts";
import type { Operations } from "../../../foundation/contracts/operations.ts";
import {
  refusedDeliveriesAnswer,
  refusedDeliveriesQuerySchema,
} from "../../../foundation/contracts/refused-deliveries.ts";
import { whyNotQuerySchema, whyNotSchema } from "../../../foundation/contracts/why-not.ts";
import { agentParams, triggerParams } from "../api/answers.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentOf } from "../names.ts";

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
  refusedRoute(app, operations);
  whyNotRoute(app, operations);
  callTreeRoute(app, operations);
}

function refusedRoute(app: FastifyInstance, operations: Operations): void {
  const schema = {
    tag: "History",
    summary: "Webhook deliveries that were refused, the latest first",
    description:
      "Of these nothing is stored but their number, and the reason of the last one: those of one source that were refused " +
      "for the same reason within ten minutes are one row. A duplicate names the receipt of the first.",
    querystring: refusedDeliveriesQuerySchema,
    response: { 200: refusedDeliveriesAnswer },
    problems: [503],
  };
  withZod(app).get("/api/stats/refused-deliveries", { schema }, async (request) => ({
    deliveries: [...(await operations.refusedDeliveries(request.query))],
  }));
}

function whyNotRoute(app: FastifyInstance, operations: Operations): void {
  const schema = {
    tag: "History",
    summary: "Why an agent did not run",
    description:
      "What keeps it from running now; its work that no run was started for; stored deliveries that its filters turn away, " +
      "each with the conditions that stop it; and what its sources refused before any filter.",
    params: agentParams,
    querystring: whyNotQuerySchema,
    response: { 200: whyNotSchema },
    problems: [404, 503],
  };
  withZod(app).get("/api/agents/:name/why-not", { schema }, (request) =>
    operations.whyNot(agentOf(request), request.query),
  );
}

function callTreeRoute(app: FastifyInstance, operations: Operations): void {
  const schema = {
    tag: "History",
    summary: "The calls around an entry",
    description:
      "The context of a call, the value that its run returned, and the tree of calls that it belongs to: the calls of a run are " +
      "the entries whose `caller` is its `instanceId`.",
    params: triggerParams,
    response: { 200: callTreeSchema },
    problems: [404, 503],
  };
  withZod(app).get("/api/stats/triggers/:id/calls", { schema }, (request) =>
    operations.callTree(request.params.id),
  );
}
