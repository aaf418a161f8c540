import { z } from "zod";
import { agentParams, unknownAgent } from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
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
import type { SpendKey } from "../../../foundation/contracts/budget.ts";
import { agentWithLog } from "../../operations/read-log.ts";
import type { NamedOperations } from "../../operations/table.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentStatus, frameOf, performed, queryOf, readOrNull } from "../page-data.ts";
import { sendLivePage, sendWorker, workerPath, type ListPage } from "../../dashboard/send-page.tsx";
import { runsPath, whyPath } from "../../dashboard/text/addresses.ts";
import { filterOf } from "../../dashboard/pages/overview/agent-filter.ts";
import { viewOf, choiceOf, type ListView } from "../../dashboard/kit/list-view.ts";
import { firstPartOf } from "./logs.ts";

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
      const { agents, locks, recentLogs } = deps.context.status.snapshot();
      const shown = agentsData(agents, filterOf(queryOf(url)));
      const names = shown.agents.map(({ name }) => name);
      const { history } = deps.context.store;
      return sendLivePage(reply, overviewPage, {
        frame: frameOf(deps),
        ...shown,
        latestRuns: await readOrNull(() => ({ agents: history.latestRuns(names) })),
        locks,
        recentLogs,
      });
    },
  }),
  ...listRoutes(deps),
  ...agentRoutes(deps),
];

/** The pages with filters. */
function listRoutes(deps: GatewayDeps) {
  /** The document of an operation, with the parameters of the address from which the page reads it again. */
  const documentOf = <Address extends keyof NamedOperations>(row: Address, address: string) =>
    readOrNull(() => performed(row, queryOf(address), deps));
  const triggers = "GET /api/stats/triggers";
  const questions = "GET /api/questions";
  return [
    listRoute(
      deps,
      triggersPage,
      "/dashboard/triggers",
      "The trigger history",
      async (view, query) => {
        const now = Date.now();
        const id = query.get("entry");
        const opened =
          id === null ? null : await readOrNull(() => performed(triggers, { id }, deps));
        return {
          history: await documentOf(triggers, triggersPath(view, now)),
          opened: opened?.triggers[0] ?? null,
          refused: await documentOf("GET /api/stats/refused-deliveries", refusedPath(now)),
        };
      },
    ),
    listRoute(deps, searchPage, "/dashboard/search", "Search over all logs", async (view) => ({
      found: hasWords(view)
        ? await documentOf("GET /api/search", searchPath(view, null, Date.now()))
        : null,
    })),
    listRoute(deps, costPage, "/dashboard/cost", "What runs spend on models", async (view) => {
      const days = daysOf(view);
      const spend = (by: SpendKey) =>
        readOrNull(() => performed("GET /api/spend", { by, days }, deps));
      return {
        first: {
          day: await spend("day"),
          agent: await spend("agent"),
          model: await spend("model"),
        },
      };
    }),
    listRoute(
      deps,
      alertsPage,
      "/dashboard/alerts",
      "Alerts, and what became of them",
      async (view) => ({ report: await documentOf("GET /api/alerts", alertsPath(view)) }),
    ),
    listRoute(
      deps,
      questionsPage,
      "/dashboard/questions",
      "Questions of runs to people, to answer, and how they ended",
      async (view) => {
        const { open, ended } = questionPaths(view);
        return {
          open: await documentOf(questions, open),
          ended: await documentOf(questions, ended),
        };
      },
    ),
    listRoute(
      deps,
      auditPage,
      "/dashboard/audit",
      "The audit trail: the acts of people",
      async (view) => ({ report: await documentOf("GET /api/audit", auditPath(view)) }),
    ),
  ];
}

/** The pages of one agent. */
const agentRoutes = (deps: GatewayDeps) => [
  get("/dashboard/agents/:name", {
    ...agentPages,
    summary: "One agent",
    handle: async ({ params: { name }, url }, reply) => {
      // The scheduler has a log, but is not an agent.
      if (name === "scheduler") throw unknownAgent(name);
      await agentWithLog(name, deps.context);
      // Loaded at the first visit, like the engine for log lines.
      const { page } = await import("../../dashboard/pages/agent/page.tsx");
      const tab = tabAt(queryOf(url));
      const detail = () => performed("GET /dashboard/api/agents/:name", { name }, deps);
      const spending = () => performed("GET /api/spend", { by: "day", agent: name }, deps);
      // Read first: with an agent's files, the secrets that are hidden in all documents are learned.
      const first = await tabDocuments[tab](name, deps);
      return sendLivePage(reply, page, {
        frame: frameOf(deps),
        name,
        tab,
        status: agentStatus(name, deps),
        locks: deps.context.status.snapshot().locks,
        detail: await readOrNull(detail),
        spending: await readOrNull(spending),
        first,
      });
    },
  }),
  get("/dashboard/agents/:name/logs", {
    ...agentPages,
    summary: "One agent's log, live",
    handle: async ({ params, url }, reply) => {
      const agent = await agentWithLog(params.name, deps.context);
      // Loaded at the first visit: a start does without the engine for log lines.
      const { logRunsPath, page } = await import("../../dashboard/pages/log/page.tsx");
      const choice = choiceOf(queryOf(url));
      const runs = () => performed("GET /api/stats/triggers", queryOf(logRunsPath(agent)), deps);
      return sendLivePage(reply, page, {
        frame: frameOf(deps),
        agent,
        status: agentStatus(agent, deps),
        choice,
        runs: await readOrNull(runs),
        lines: await readOrNull(() => firstPartOf(agent, choice, deps)),
      });
    },
  }),
];

/** The documents that each tab of an agent's page is rendered with. */
const tabDocuments = {
  runs: async (name: string, deps: GatewayDeps) => ({
    runs: await readOrNull(() =>
      performed("GET /api/stats/triggers", queryOf(runsPath(name)), deps),
    ),
    hosts: await readOrNull(() => performed("GET /api/agents/:name/hosts", { name }, deps)),
  }),
  why: async (name: string, deps: GatewayDeps) => {
    const query = queryOf(whyPath(name, Date.now()));
    query.set("name", name);
    return {
      why: await readOrNull(() => performed("GET /api/agents/:name/why-not", query, deps)),
    };
  },
  config: filesOf,
  instructions: filesOf,
};

async function filesOf(name: string, deps: GatewayDeps) {
  return {
    files: await readOrNull(() => performed("GET /api/agents/:name/files", { name }, deps)),
  };
}
