import type { FastifyInstance } from "fastify";
import { z } from "zod";
import {
  receiptViewSchema,
  replayResultSchema,
} from "../../../foundation/contracts/operator-api.ts";
import { receiptParams, triggerParams } from "../api/answers.ts";
import { emptyBody } from "../api/bodies.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";
import { isAgentName, receiptOf, unknownAgent } from "../names.ts";

const tag = "Webhooks";
const replayQuery = z.object({
  agent: z
    .string()
    .optional()
    .meta({ description: "Only this agent, whatever its filters are; else all that match" }),
});

/** Stored deliveries: looked at, and run again; work of any kind is run again by its history entry. */
export function receiptRoutes(app: FastifyInstance, { operations }: GatewayDeps): void {
  const api = withZod(app);
  const viewSchema = {
    tag,
    summary: "A stored webhook delivery, its secrets redacted",
    params: receiptParams,
    response: { 200: receiptViewSchema },
    problems: [404, 503],
  };
  api.get("/api/stats/webhooks/:receiptId", { schema: viewSchema }, (request) =>
    operations.receipt(receiptOf(request)),
  );

  const replaySchema = {
    tag,
    summary: "Run a stored webhook delivery again",
    description:
      "Makes new work, also of a delivery whose work was dropped or that matched no agent. Asking twice runs it twice.",
    params: receiptParams,
    querystring: replayQuery,
    body: emptyBody,
    response: { 200: replayResultSchema },
    problems: [404, 409, 503],
  };
  api.post("/api/webhooks/:receiptId/replay", { schema: replaySchema }, (request) => {
    const { agent = null } = request.query;
    if (agent !== null && !isAgentName(agent)) throw unknownAgent(agent);
    return operations.replay(receiptOf(request), agent);
  });

  const triggerSchema = {
    tag: "History",
    summary: "Run the work of a history entry again",
    description:
      "Of any kind: a webhook's delivery, a schedule's tick, a manual prompt, a call. Makes new work whose entry names " +
      "this one as `replayOf`; no run waits for the value of a replayed call. Asking twice runs it twice.",
    params: triggerParams,
    response: { 200: replayResultSchema },
    problems: [404, 409, 503],
  };
  api.post("/api/triggers/:id/replay", { schema: triggerSchema }, (request) =>
    operations.replayTrigger(request.params.id),
  );
}
