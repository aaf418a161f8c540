import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { agentDetailSchema, agentParams } from "../api/answers.ts";
import { withZod } from "../api/zod-types.ts";
import type { AgentAnswer } from "../../../foundation/contracts/agent-detail.ts";
import { alertsPage } from "../../dashboard/alerts-page.ts";
import { agentPage } from "../../dashboard/agent-page.ts";
import { costPage } from "../../dashboard/cost-page.ts";
import { logPage } from "../../dashboard/log-page.ts";
import { overviewPage } from "../../dashboard/overview-page.ts";
import { searchPage } from "../../dashboard/search-page.ts";
import { scheduleText } from "../../dashboard/schedule-text.ts";
import { triggersPage } from "../../dashboard/triggers-page.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentOf, unknownAgent } from "../names.ts";
import { sendPage } from "../../dashboard/layout.ts";
import { isKnown } from "./logs.ts";

const page = { tag: "Pages", produces: "text/html" };
const agentPageSchema = { ...page, params: agentParams, problems: [404] };
const homeSchema = {
  tag: "Pages",
  summary: "Leads to the dashboard",
  response: { 302: z.undefined() },
};

/** The dashboard's pages; what they show comes over the streams and the APIs. */
export function dashboardRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  app.get("/", { schema: homeSchema }, (_request, reply) => reply.redirect("/dashboard", 302));

  const overviewSchema = { ...page, summary: "All agents, live" };
  app.get("/dashboard", { schema: overviewSchema }, (_request, reply) =>
    sendPage(reply, overviewPage()),
  );

  const triggersSchema = { ...page, summary: "The trigger history" };
  app.get("/dashboard/triggers", { schema: triggersSchema }, (_request, reply) =>
    sendPage(reply, triggersPage()),
  );

  const searchSchema = { ...page, summary: "Search over all logs" };
  app.get("/dashboard/search", { schema: searchSchema }, (_request, reply) =>
    sendPage(reply, searchPage()),
  );

  const costSchema = { ...page, summary: "What runs spend on models" };
  app.get("/dashboard/cost", { schema: costSchema }, (_request, reply) =>
    sendPage(reply, costPage()),
  );

  const alertsSchema = { ...page, summary: "Alerts, and what became of them" };
  app.get("/dashboard/alerts", { schema: alertsSchema }, (_request, reply) =>
    sendPage(reply, alertsPage()),
  );

  agentPages(app, deps);
}

function agentPages(app: FastifyInstance, deps: GatewayDeps): void {
  const overviewSchema = { ...agentPageSchema, summary: "One agent" };
  app.get("/dashboard/agents/:name", { schema: overviewSchema }, async (request, reply) => {
    const agent = agentOf(request);
    // The scheduler has a log, but is no agent.
    if (agent === "scheduler" || !(await isKnown(agent, deps))) throw unknownAgent(agent);
    return sendPage(reply, agentPage(agent));
  });

  const logsSchema = { ...agentPageSchema, summary: "One agent's log, live" };
  app.get("/dashboard/agents/:name/logs", { schema: logsSchema }, async (request, reply) => {
    const agent = agentOf(request);
    if (!(await isKnown(agent, deps))) throw unknownAgent(agent);
    return sendPage(reply, logPage(agent));
  });

  const api = withZod(app);
  const detailSchema = {
    tag: "Status",
    summary: "An agent in full: its active config and its next ticks",
    params: agentParams,
    response: { 200: agentDetailSchema(deps.agentView) },
    problems: [404],
  };
  api.get("/dashboard/api/agents/:name", { schema: detailSchema }, (request): AgentAnswer => {
    const { config, nextTicks } = deps.operations.agent(agentOf(request));
    const text = scheduleText(config?.schedule ?? null);
    const facts = config === null ? [] : deps.agentView.facts(config, text);
    return { config, nextTicks, scheduleText: text, facts };
  });
}
