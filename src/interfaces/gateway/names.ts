import type { FastifyRequest } from "fastify";
import { agentNamePattern } from "../../foundation/contracts/agent-name.ts";
import { HttpProblem } from "./problem.ts";

const agentName = new RegExp(`^${agentNamePattern}$`);
const receiptId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const instanceId = new RegExp(`^${agentNamePattern}-[a-z2-7]{8}$`);

/** The agent of the path. The router decodes `..%2f` and NUL into it: a name that can't be one is unknown. */
export function agentOf(request: FastifyRequest): string {
  const name = paramOf(request, "name");
  if (!isAgentName(name)) throw unknownAgent(name);
  return name;
}

/** Whether an agent could be named so. */
export function isAgentName(name: string): boolean {
  return agentName.test(name);
}

/** The 404 of an agent that isn't there. */
export function unknownAgent(name: string): HttpProblem {
  return new HttpProblem(404, "unknown_agent", `There is no agent ${JSON.stringify(name)}.`);
}

/** The instance id of the path. */
export function instanceOf(request: FastifyRequest): string {
  return mustBeInstance(paramOf(request, "instanceId"));
}

/** The id, if a run could be named so. */
export function mustBeInstance(id: string): string {
  if (instanceId.test(id)) return id;
  throw unknownInstance(id);
}

/** The 404 of a run that isn't there. */
export function unknownInstance(id: string): HttpProblem {
  return new HttpProblem(404, "unknown_instance", `There is no run ${JSON.stringify(id)}.`);
}

/** The receipt id of the path. */
export function receiptOf(request: FastifyRequest): string {
  const id = paramOf(request, "receiptId").toLowerCase();
  if (receiptId.test(id)) return id;
  throw new HttpProblem(404, "unknown_receipt", `There is no receipt ${JSON.stringify(id)}.`);
}

/** A decoded part of the path. */
export function paramOf(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string | undefined>>)[name] ?? "";
}
