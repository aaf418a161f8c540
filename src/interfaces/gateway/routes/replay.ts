import { z } from "zod";
import { replayResultSchema } from "../../../foundation/contracts/operator-api.ts";
import { emptyBody, mustBeAgent, receiptParams } from "../../../foundation/contracts/params.ts";
import { matchedAgents, replayAct } from "../../../runtime/runs/history-operations.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";

/** A stored delivery runs again: the one change whose input is in the query. */
export const replayRoutes = ({ context: { runs } }: GatewayDeps) => [
  routesOf("Webhooks").post("/api/webhooks/:receiptId/replay", {
    summary: "Run a stored webhook delivery again",
    description:
      "Makes new work, also of a delivery whose work was dropped or that matched no agent. Asking twice runs it twice.",
    scope: "trigger",
    isAbout: ({ params, query }, isMine) =>
      isMine(query.agent) && matchedAgents(params.receiptId, runs.receipt).some(isMine),
    params: receiptParams,
    query: z.object({
      agent: z
        .string()
        .transform(mustBeAgent)
        .optional()
        .meta({ description: "Only this agent, whatever its filters are; else all that match" }),
    }),
    body: emptyBody,
    response: { 200: replayResultSchema },
    audit: ({ params }, result) => replayAct(params.receiptId, result),
    problems: [404, 409, 503],
    handle: ({ params, query }) => runs.replay(params.receiptId, query.agent ?? null),
  }),
];
