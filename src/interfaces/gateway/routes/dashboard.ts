import { z } from "zod";
import { agentParams, unknownAgent } from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
import { placeOf } from "../../../features/memory/memory-place.ts";
import { page as alertsPage } from "../../dashboard/pages/alerts/page.tsx";
import { wordsPage } from "../../dashboard/card-pages.tsx";
import { page as auditPage } from "../../dashboard/pages/audit/page.tsx";
import { memoryAt, tabFilters, tabOf } from "../../dashboard/pages/agent/tabs.tsx";
import { page as costPage } from "../../dashboard/pages/cost/page.tsx";
import { page as questionsPage } from "../../dashboard/pages/questions/page.tsx";
import { page as overviewPage } from "../../dashboard/pages/overview/page.tsx";
import { agentsData } from "../../dashboard/pages/overview/rows.ts";
import { page as searchPage } from "../../dashboard/pages/search/page.tsx";
import { page as triggersPage } from "../../dashboard/pages/triggers/page.tsx";
import type { OutputOf } from "../../../foundation/operation.ts";
import type { NamedOperations } from "../../operations/table.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentStatus, documentOf, frameOf, performed, queryOf, readOrNull } from "../page-data.ts";
import type { ListData, ListPage } from "../../dashboard/kit/list.tsx";
import {
  builtFile,
  sendLivePage,
  sendPage,
  sendWorker,
  workerPath,
} from "../../dashboard/send-page.tsx";
import {
  agentApi,
  memoryApi,
  runsPath,
  spendPath,
  whyPath,
} from "../../dashboard/text/addresses.ts";
import { filterOf } from "../../dashboard/pages/overview/agent-filter.ts";
import { hoursPath, todayPath } from "../../dashboard/pages/overview/health.tsx";
import { closedGroups } from "../../dashboard/pages/overview/closed-groups.ts";
import { viewOf, choiceOf, type ListView } from "../../dashboard/kit/list-view.ts";
import { agentWithLog } from "../../operations/read-log.ts";
import { firstPartOf } from "./logs.ts";

const { get } = routesOf("Pages");
const page = { produces: "text/html" } as const;
const agentPages = { ...page, params: agentParams, problems: [404] } as const;

/** The address of a read for each document of a page. */
type Reads<Documents> = {
  readonly [Name in keyof Documents]: {
    [Address in keyof NamedOperations]: OutputOf<NamedOperations[Address]> extends Documents[Name]
      ? Address
      : never;
  }[keyof NamedOperations];
};

/** The route of a page whose address has a view, and the reads of its documents. */
function listRoute<Documents, More>(
  deps: GatewayDeps,
  shown: ListPage<Documents, More>,
  summary: string,
  rows: Reads<Documents>,
  more?: (query: URLSearchParams) => Promise<More>,
) {
  return get(`/dashboard/${shown.name}`, {
    ...page,
    summary,
    handle: async ({ url }, reply) => {
      const query = queryOf(url);
      const view = viewOf(shown.filters, query);
      const first: Partial<Record<keyof Documents, unknown>> = {};
      for (const name of Object.keys(rows) as (keyof Documents)[]) {
        const path = (now: number) => shown.paths[name](view, now);
        first[name] = await documentOf(rows[name], path, deps);
      }
      const data = { frame: frameOf(deps), view, first, ...(await more?.(query)) };
      return sendLivePage(reply, shown, data as ListData<Documents> & More);
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
  get("/dashboard/words", {
    ...page,
    summary: "The words of the dashboard",
    handle: async (_request, reply) => {
      const { Markdown } = await import("../../dashboard/kit/markdown.tsx");
      return sendPage(reply, wordsPage(Markdown, builtFile("words.txt").text));
    },
  }),
  get("/", {
    summary: "Leads to the dashboard",
    response: { 302: z.undefined() },
    handle: (_request, reply) => reply.redirect("/dashboard", 302),
  }),
  get("/dashboard", {
    ...page,
    summary: "All agents, live",
    handle: async ({ url, headers }, reply) => {
      const { agents, locks, recentLogs } = deps.context.status.snapshot();
      const { history } = deps.context.store;
      const shown = agentsData(agents, filterOf(queryOf(url)));
      const names = shown.agents.map(({ name }) => name);
      return sendLivePage(reply, overviewPage, {
        frame: frameOf(deps),
        ...shown,
        closed: closedGroups(headers.cookie ?? ""),
        latestRuns: await readOrNull(() => ({ agents: history.latestRuns(names) })),
        hours: await documentOf("GET /api/stats/hours", hoursPath, deps),
        spend: await documentOf("GET /api/spend", todayPath, deps),
        locks,
        recentLogs,
      });
    },
  }),
  listRoute(
    deps,
    triggersPage,
    "The trigger history",
    { history: "GET /api/stats/triggers", refused: "GET /api/stats/refused-deliveries" },
    async (query) => {
      const id = query.get("entry");
      if (id === null) return { opened: null };
      const found = await readOrNull(() => performed("GET /api/stats/triggers", { id }, deps));
      return { opened: found?.triggers[0] ?? null };
    },
  ),
  listRoute(deps, searchPage, "Search over all logs", { found: "GET /api/search" }),
  listRoute(deps, costPage, "What runs spend on models", {
    day: "GET /api/spend",
    agent: "GET /api/spend",
    model: "GET /api/spend",
  }),
  listRoute(deps, alertsPage, "Alerts and their deliveries", { report: "GET /api/alerts" }),
  listRoute(deps, questionsPage, "Questions of runs to people, to answer, and how they ended", {
    open: "GET /api/questions",
    ended: "GET /api/questions",
  }),
  listRoute(deps, auditPage, "The audit trail: the acts of people", { report: "GET /api/audit" }),
  get("/dashboard/agents/:name", {
    ...agentPages,
    summary: "One agent",
    handle: async ({ params: { name }, url }, reply) => {
      // The scheduler has a log, but is not an agent.
      if (name === "scheduler") throw unknownAgent(name);
      await agentWithLog(name, deps.context);
      // Loaded at the first visit, like the engine for log lines.
      const { page } = await import("../../dashboard/pages/agent/page.tsx");
      const view = viewOf(tabFilters, queryOf(url));
      const detail = () => performed("GET /dashboard/api/agents/:name", { name }, deps);
      // Read first: with an agent's files, the secrets that are hidden in all documents are learned.
      const first = await tabDocuments(name, view, deps);
      return sendLivePage(reply, page, {
        frame: frameOf(deps),
        name,
        view,
        status: agentStatus(name, deps),
        locks: deps.context.status.snapshot().locks,
        detail: {
          value: await readOrNull(detail),
          changedBy: ["agents"],
        },
        spending: await documentOf("GET /api/spend", () => spendPath(name), deps),
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
      return sendLivePage(reply, page, {
        frame: frameOf(deps),
        agent,
        status: agentStatus(agent, deps),
        choice: choiceOf(queryOf(url)),
        runs: await documentOf("GET /api/stats/triggers", () => logRunsPath(agent), deps),
        lines: await readOrNull(() => firstPartOf(agent, choiceOf(queryOf(url)), deps)),
      });
    },
  }),
];

/** A memory and its versions, read if the tab shows them. */
async function memoryDocuments(memory: string, isShown: boolean, deps: GatewayDeps) {
  const { at } = placeOf(memory);
  const path = (rest: string) => (isShown ? () => `${memoryApi(memory)}${rest}` : null);
  return {
    memory: await documentOf(`GET ${at}`, path(""), deps),
    versions: await documentOf(`GET ${at}/versions`, path("/versions"), deps),
  };
}

/** The documents of the tabs of an agent's page: those of the current one are read. */
async function tabDocuments(name: string, view: ListView, deps: GatewayDeps) {
  const tab = tabOf(view);
  const api = agentApi(name);
  const at = (isOfTab: boolean, path: (now: number) => string) => (isOfTab ? path : null);
  const isOfRuns = tab === "runs";
  return {
    runs: await documentOf(
      "GET /api/stats/triggers",
      at(isOfRuns, () => runsPath(name)),
      deps,
    ),
    hosts: await documentOf(
      "GET /api/agents/:name/hosts",
      at(isOfRuns, () => `${api}/hosts`),
      deps,
    ),
    why: await documentOf(
      "GET /api/agents/:name/why-not",
      at(tab === "why", (now) => whyPath(name, now)),
      deps,
    ),
    files: await documentOf(
      "GET /api/agents/:name/files",
      at(/config|instructions/.test(tab), () => `${api}/files`),
      deps,
    ),
    ...(await memoryDocuments(memoryAt(name, view), tab === "memory", deps)),
  };
}
