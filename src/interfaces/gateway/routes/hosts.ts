import type { FastifyInstance } from "fastify";
import {
  agentHostsSchema,
  allowHostSchema,
  hostAllowedSchema,
} from "../../../foundation/contracts/run-hosts.ts";
import { agentParams } from "../api/answers.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentOf } from "../names.ts";

const tag = "Network";

/** What agents' runs were denied, and the hosts that they may reach from now on. */
export function hostRoutes(app: FastifyInstance, { operations }: GatewayDeps): void {
  const api = withZod(app);
  const schema = {
    tag,
    summary: "The hosts that an agent's runs were denied in the last 30 days",
    params: agentParams,
    response: { 200: agentHostsSchema },
    problems: [404, 503],
  };
  api.get("/api/agents/:name/hosts", { schema }, (request) =>
    operations.agentHosts(agentOf(request)),
  );

  const allowSchema = {
    tag,
    summary: "Allow a host for an agent",
    description:
      "Adds the host to `[network].allow` of the agent's own `config.toml`; comments and order stay. With `dryRun` the " +
      "answer has what would change, and nothing is written. It counts from when the scheduler has read the file again, " +
      "also for runs that are under way.",
    params: agentParams,
    body: allowHostSchema,
    response: { 200: hostAllowedSchema },
    problems: [404, 409],
  };
  api.post("/api/agents/:name/allow-host", { schema: allowSchema }, (request) =>
    operations.allowHost(agentOf(request), request.body),
  );
}
