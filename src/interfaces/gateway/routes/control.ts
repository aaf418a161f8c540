import type { FastifyInstance } from "fastify";
import { z } from "zod";
import {
  agentParams,
  enabledAnswer,
  instanceParams,
  killedAnswer,
  killedRunAnswer,
  pausedAnswer,
  stoppingAnswer,
  triggeredAnswer,
} from "../api/answers.ts";
import { emptyBody, optionalBody } from "../api/bodies.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentOf, instanceOf } from "../names.ts";

const triggerBody = optionalBody({
  prompt: z.string().nullish().meta({ description: "What to do, for this run only" }),
});
const stopBody = optionalBody({
  now: z.boolean().nullish().meta({ description: "Kill the running runs" }),
});
const tag = "Control";

/** What an operator can do; a thin skin over the scheduler's operations. */
export function controlRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  schedulerRoutes(app, deps);
  switchRoutes(app, deps);
  runRoutes(app, deps);
}

function schedulerRoutes(app: FastifyInstance, { operations }: GatewayDeps): void {
  const api = withZod(app);
  for (const [path, paused, summary] of [
    ["pause", true, "Pause the scheduler: cron ticks are skipped"],
    ["resume", false, "Resume the scheduler"],
  ] as const) {
    const schema = {
      tag,
      summary,
      body: emptyBody,
      response: { 200: pausedAnswer },
      problems: [503],
    };
    api.post(`/control/${path}`, { schema }, async () => {
      await operations.setPaused(paused);
      return { success: true as const, paused };
    });
  }

  const summary =
    "Stop the scheduler: running runs get their grace period, or, with now = true, are killed";
  const schema = { tag, summary, body: stopBody, response: { 202: stoppingAnswer } };
  api.post("/control/stop", { schema }, async (request, reply) => {
    const { running } = operations.snapshot().scheduler;
    // The answer leaves first: stopping closes this very server.
    reply.raw.once("close", () => operations.stop(request.body?.now === true));
    return reply.code(202).send({ success: true, running });
  });
}

/** Pause and resume of one agent are other words for disable and enable. */
function switchRoutes(app: FastifyInstance, { operations }: GatewayDeps): void {
  for (const [path, enabled, summary] of [
    ["enable", true, "Enable an agent"],
    ["resume", true, "Another word for enable"],
    ["disable", false, "Disable an agent: queued work waits, running runs continue"],
    ["pause", false, "Another word for disable"],
  ] as const) {
    const schema = {
      tag,
      summary,
      params: agentParams,
      body: emptyBody,
      response: { 200: enabledAnswer },
      problems: [404, 409, 503],
    };
    withZod(app).post(`/control/agents/:name/${path}`, { schema }, async (request) => {
      const agent = agentOf(request);
      await operations.setEnabled(agent, enabled);
      return { success: true as const, agent, enabled };
    });
  }
}

function runRoutes(app: FastifyInstance, { operations }: GatewayDeps): void {
  const api = withZod(app);
  const triggerSchema = {
    tag,
    summary: "Run an agent now, or queue the run",
    params: agentParams,
    body: triggerBody,
    response: { 202: triggeredAnswer },
    problems: [404, 409, 413, 503],
  };
  api.post("/control/trigger/:name", { schema: triggerSchema }, async (request, reply) => {
    const agent = agentOf(request);
    const triggered = await operations.trigger(agent, request.body?.prompt ?? null);
    return reply.code(202).send({ success: true, agent, ...triggered });
  });

  const killSchema = {
    tag,
    summary: "End all running runs of an agent",
    params: agentParams,
    body: emptyBody,
    response: { 200: killedAnswer },
    problems: [404],
  };
  api.post("/control/agents/:name/kill", { schema: killSchema }, async (request) => {
    const agent = agentOf(request);
    return { success: true as const, agent, killed: await operations.killAgent(agent) };
  });

  const killOneSchema = {
    tag,
    summary: "End one run",
    params: instanceParams,
    body: emptyBody,
    response: { 200: killedRunAnswer },
    problems: [404],
  };
  api.post("/control/kill/:instanceId", { schema: killOneSchema }, async (request) => {
    const instanceId = instanceOf(request);
    await operations.killInstance(instanceId);
    return { success: true as const, instanceId };
  });
}
