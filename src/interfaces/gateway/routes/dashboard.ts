import { z } from "zod";
import { agentFacts } from "../../../foundation/config/agent-view.ts";
import { agentDetailSchema } from "../api/answers.ts";
import { agentParams, unknownAgent } from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
import type { AgentAnswer } from "../../../foundation/contracts/operator-api.ts";
import { alertsPath, page as alertsPage } from "../../dashboard/pages/alerts/page.tsx";
import { auditPath, page as auditPage } from "../../dashboard/pages/audit/page.tsx";
import { tabAt } from "../../dashboard/pages/agent/tabs.tsx";
import { daysOf, page as costPage } from "../../dashboard/pages/cost/page.tsx";
import { page as questionsPage, questionPaths } from "../../dashboard/pages/questions/page.tsx";
import { agentsData, page as overviewPage } from "../../dashboard/pages/overview/page.tsx";
import { hasWords, page as searchPage, searchPath } from "../../dashboard/pages/search/page.tsx";
import {
  page as triggersPage,
  refusedPath,
  triggersPath,
} from "../../dashboard/pages/triggers/page.tsx";
import { listActs, listQuestions } from "../../../features/people/operations.ts";
import { searchQuerySchema } from "../../../features/search/search-report.ts";
import { listAlerts } from "../../../features/alerts/operations.ts";
import type { SpendKey } from "../../../foundation/contracts/budget.ts";
import { historyQuerySchema } from "../../../foundation/contracts/history.ts";
import {
  refusedDeliveriesQuerySchema,
  whyNotQuerySchema,
} from "../../../features/webhooks/delivery-report.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentStatus, frameOf, parsedQuery, performed, queryOf, readOrNull } from "../page-data.ts";
import { sendLivePage, sendWorker, workerPath, type ListPage } from "../../dashboard/send-page.tsx";
import { runsPath, whyPath } from "../../dashboard/text/addresses.ts";
import { filterOf } from "../../dashboard/pages/overview/agent-filter.ts";
import { viewOf, choiceOf, type ListView } from "../../dashboard/kit/list-view.ts";
import { agentWithLog, firstPartOf } from "./logs.ts";

const { get } = routesOf("Pages");
const page = { produces: "text/html" } as const;
const agentPages = { ...page, params: agentParams, problems: [404] } as const;

/** The route of a page with filters: its view is in the address, and `read` reads its documents. */
function listRoute<Documents>(
  deps: GatewayDeps,
  shown: ListPage<Documents>,
  path: string,
  summary: string,
  read: (view: ListView, query: URLSearchParams) => Promise<Documents>,
) {
  return get(path, {
    ...page,
    summary,
    handle: async ({ url }, reply) => {
      const query = queryOf(url);
      const view = viewOf(shown.filters, query);
      return sendLivePage(reply, shown, {
        frame: frameOf(deps),
        view,
        ...(await read(view, query)),
      });
    },
  });
}

/** The dashboard's pages, rendered with their data. */
export const dashboardRoutes = (deps: GatewayDeps) => [
  get(workerPath, {
    summary: "The script that keeps all pages of a browser current",
    produces: "text/javascript",
    handle: (_request, reply) => sendWorker(reply),
  }),
  get("/", {
    summary: "Leads to the dashboard",
    response: { 302: z.undefined() },
    handle: (_request, reply) => reply.redirect("/dashboard", 302),
  }),
  get("/dashboard", {
    ...page,
    summary: "All agents, live",
    handle: async ({ url }, reply) => {
      const { agents, locks, recentLogs } = deps.context.runs.snapshot();
      const shown = agentsData(agents, filterOf(queryOf(url)));
      const names = shown.agents.map(({ name }) => name);
      return sendLivePage(reply, overviewPage, {
        frame: frameOf(deps),
        ...shown,
        latestRuns: await readOrNull(() => deps.context.runs.latestRuns(names)),
        locks,
        recentLogs,
      });
    },
  }),
  listRoute(
    deps,
    triggersPage,
    "/dashboard/triggers",
    "The trigger history",
    async (view, query) => {
      const { runs } = deps.context;
      const now = Date.now();
      const id = query.get("entry");
      return {
        history: await readOrNull(() =>
          runs.history(parsedQuery(historyQuerySchema, triggersPath(view, now))),
        ),
        opened: await readOrNull(() => {
          if (id === null) return null;
          return runs.history({ page: 1, limit: 1, id }).triggers[0] ?? null;
        }),
        refused: await readOrNull(async () => {
          const asked = parsedQuery(refusedDeliveriesQuerySchema, refusedPath(now));
          return { deliveries: [...(await runs.refusedDeliveries(asked))] };
        }),
      };
    },
  ),
  listRoute(deps, searchPage, "/dashboard/search", "Search over all logs", async (view) => {
    const find = () =>
      deps.context.search.find(parsedQuery(searchQuerySchema, searchPath(view, null, Date.now())));
    return { found: hasWords(view) ? await readOrNull(find) : null };
  }),
  listRoute(deps, costPage, "/dashboard/cost", "What runs spend on models", async (view) => {
    const days = daysOf(view);
    const spend = (by: SpendKey) => readOrNull(() => deps.context.spend.answer({ by, days }));
    return {
      first: { day: await spend("day"), agent: await spend("agent"), model: await spend("model") },
    };
  }),
  listRoute(
    deps,
    alertsPage,
    "/dashboard/alerts",
    "Alerts, and what became of them",
    async (view) => ({
      report: await readOrNull(() => performed(listAlerts, alertsPath(view), deps.context)),
    }),
  ),
  listRoute(
    deps,
    questionsPage,
    "/dashboard/questions",
    "Questions of runs to people, to answer, and how they ended",
    async (view) => {
      const { open, ended } = questionPaths(view);
      const read = (path: string) => readOrNull(() => performed(listQuestions, path, deps.context));
      return { open: await read(open), ended: await read(ended) };
    },
  ),
  listRoute(
    deps,
    auditPage,
    "/dashboard/audit",
    "The audit trail: the acts of people",
    async (view) => ({
      report: await readOrNull(() => performed(listActs, auditPath(view), deps.context)),
    }),
  ),
  get("/dashboard/agents/:name", {
    ...agentPages,
    summary: "One agent",
    handle: async ({ params: { name }, url }, reply) => {
      // The scheduler has a log, but is not an agent.
      if (name === "scheduler") throw unknownAgent(name);
      await agentWithLog(name, deps);
      // Loaded at the first visit, like the engine for log lines.
      const { page } = await import("../../dashboard/pages/agent/page.tsx");
      const tab = tabAt(queryOf(url));
      const { runs } = deps.context;
      // Read first: with an agent's files, the secrets that are hidden in all documents are learned.
      const first = await tabDocuments[tab](name, deps);
      return sendLivePage(reply, page, {
        frame: frameOf(deps),
        name,
        tab,
        status: agentStatus(name, deps),
        locks: runs.snapshot().locks,
        detail: await readOrNull(() => detailOf(name, deps)),
        spending: await readOrNull(() => deps.context.spend.answer({ by: "day", agent: name })),
        first,
      });
    },
  }),
  get("/dashboard/agents/:name/logs", {
    ...agentPages,
    summary: "One agent's log, live",
    handle: async ({ params, url }, reply) => {
      const agent = await agentWithLog(params.name, deps);
      // Loaded at the first visit: a start does without the engine for log lines.
      const { logRunsPath, page } = await import("../../dashboard/pages/log/page.tsx");
      const runs = parsedQuery(historyQuerySchema, logRunsPath(agent));
      return sendLivePage(reply, page, {
        frame: frameOf(deps),
        agent,
        status: agentStatus(agent, deps),
        choice: choiceOf(queryOf(url)),
        runs: await readOrNull(() => deps.context.runs.history(runs)),
        lines: await readOrNull(() => firstPartOf(agent, choiceOf(queryOf(url)), deps)),
      });
    },
  }),
];

/** An agent in full, for its page and for programs. */
export const agentDetailRoutes = (deps: GatewayDeps) => [
  routesOf("Status").get("/dashboard/api/agents/:name", {
    summary: "An agent in full: its active config and its next ticks",
    params: agentParams,
    response: { 200: agentDetailSchema },
    problems: [404],
    handle: ({ params }) => detailOf(params.name, deps),
  }),
];

/** The documents that each tab of an agent's page is rendered with. */
const tabDocuments = {
  runs: async (name: string, { context: { runs, agentHosts } }: GatewayDeps) => ({
    runs: await readOrNull(() => runs.history(parsedQuery(historyQuerySchema, runsPath(name)))),
    hosts: await readOrNull(() => agentHosts(name)),
  }),
  why: async (name: string, { context: { runs } }: GatewayDeps) => ({
    why: await readOrNull(() =>
      runs.whyNot(name, parsedQuery(whyNotQuerySchema, whyPath(name, Date.now()))),
    ),
  }),
  config: filesOf,
  instructions: filesOf,
};

async function filesOf(name: string, { context: { files } }: GatewayDeps) {
  return { files: await readOrNull(() => files.agentFiles(name)) };
}

async function detailOf(name: string, { context: { runs } }: GatewayDeps): Promise<AgentAnswer> {
  const { config, nextTicks } = runs.agent(name);
  const { scheduleText } = await import("../../dashboard/schedule-text.ts");
  const text = scheduleText(config?.schedule ?? null);
  const facts = config === null ? [] : agentFacts(config, text);
  return { config, nextTicks, failing: runs.failing(name), scheduleText: text, facts };
}
