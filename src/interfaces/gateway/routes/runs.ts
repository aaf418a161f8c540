import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { OperationError } from "../../../foundation/contracts/operations.ts";
import { runDifferenceSchema, runSchema } from "../../../foundation/contracts/run-view.ts";
import type { RunView } from "../../../foundation/contracts/run-view.ts";
import { agentParams, instanceParams } from "../api/answers.ts";
import { withZod } from "../api/zod-types.ts";
import { isPageVisit } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentAddress, runAddress } from "../../dashboard/browser/addresses.ts";
import { changesPage } from "../../dashboard/changes-page.ts";
import { sendPage } from "../../dashboard/layout.ts";
import { missingRunPage, runPage } from "../../dashboard/run-page.ts";
import { agentOf, instanceOf, mustBeInstance, unknownInstance } from "../names.ts";

const tag = "History";

const comparedQuery = z.object({
  to: z.string().max(200).optional().meta({
    description:
      "The run to compare with; without it the agent's last run before it that succeeded",
  }),
});

/** Single runs: what they were asked, what they ran and what came of it. */
export function runRoutes(app: FastifyInstance, { operations }: GatewayDeps): void {
  const api = withZod(app);
  const runRouteSchema = {
    tag,
    summary: "One run, also while it runs",
    description:
      "With the calls that it made and the hash of what it ran; its secrets are redacted.",
    params: instanceParams,
    response: { 200: runSchema },
    problems: [404, 503],
  };
  api.get("/api/runs/:instanceId", { schema: runRouteSchema }, (request) =>
    operations.run(instanceOf(request)),
  );

  const differenceSchema = {
    tag,
    summary: "What changed in what two runs ran",
    description:
      "From the one that started first to the other: the canonical config, with a hash in the place of each secret " +
      "value, the skill's files by hash, and the instructions.",
    params: instanceParams,
    querystring: comparedQuery,
    response: { 200: runDifferenceSchema },
    problems: [404, 503],
  };
  api.get("/api/runs/:instanceId/diff", { schema: differenceSchema }, (request) => {
    return operations.runDifference(instanceOf(request), comparedWith(request.query));
  });
}

/** Pages about single runs. */
export function runPages(app: FastifyInstance, { operations }: GatewayDeps): void {
  const path = "/dashboard/agents/:name/runs/:instanceId";
  const shared = {
    tag: "Pages",
    params: agentParams.extend(instanceParams.shape),
    produces: "text/html",
    problems: [404],
  };
  const ofRun = { ...shared, summary: "One run, live" };
  app.get(path, { schema: ofRun }, async (request, reply) => {
    const [agent, instanceId] = [agentOf(request), instanceOf(request)];
    const run = await runOrNull(instanceId, operations);
    if (run === null && !isPageVisit(request)) throw unknownInstance(instanceId);
    if (run === null) return sendPage(reply, missingRunPage(agent, instanceId), 404);
    if (run.agent !== agent) return reply.redirect(runAddress(run.agent, instanceId), 302);
    return sendPage(reply, runPage(agent, instanceId));
  });

  const latest = {
    tag: "Pages",
    summary: "Leads to an agent's latest run, or to the agent without one",
    params: agentParams,
    response: { 302: z.undefined() },
  };
  app.get("/dashboard/agents/:name/runs/latest", { schema: latest }, (request, reply) => {
    const agent = agentOf(request);
    const { triggers } = operations.history({ agent, page: 1, limit: 200 });
    const instanceId = triggers.find((entry) => entry.instanceId !== null)?.instanceId;
    const address =
      instanceId === undefined || instanceId === null
        ? agentAddress(agent)
        : runAddress(agent, instanceId);
    return reply.header("cache-control", "no-store").redirect(address, 302);
  });

  const schema = {
    ...shared,
    summary: "What changed in what two runs of an agent ran",
    querystring: comparedQuery,
  };
  withZod(app).get(`${path}/changes`, { schema }, async (request, reply) => {
    const agent = agentOf(request);
    const other = comparedWith(request.query);
    return sendPage(
      reply,
      changesPage(agent, await operations.runDifference(instanceOf(request), other)),
    );
  });
}

async function runOrNull(
  instanceId: string,
  operations: GatewayDeps["operations"],
): Promise<RunView | null> {
  try {
    return await operations.run(instanceId);
  } catch (error) {
    if (error instanceof OperationError && error.code === "unknown_instance") return null;
    throw error;
  }
}

function comparedWith({ to }: z.output<typeof comparedQuery>): string | null {
  return to === undefined ? null : mustBeInstance(to);
}
