import type { FastifyInstance } from "fastify";
import type { LogPageQuery, LogSource } from "../../../foundation/contracts/log-source.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { agentParams } from "../api/answers.ts";
import { filterOf, logFilterQuery } from "../api/log-filter.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentOf, unknownAgent } from "../names.ts";
import { isKnown } from "./logs.ts";

/** The last lines that a download holds. */
const downloadedLines = 5_000;
/** A filter that finds little reads this many parts of the log, of 32 MiB each. */
const maxParts = 16;
const schema = {
  tag: "Logs",
  summary: `The last ${downloadedLines} lines of an agent's log that match, as a file`,
  description: "With a filter the last 512 MiB of the log are searched.",
  querystring: logFilterQuery,
  params: agentParams,
  produces: "application/x-ndjson",
  problems: [404],
};

/** An agent's log as a file, with the filter of the log page. */
export function logDownloadRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const api = withZod(app);
  api.get("/dashboard/api/logs/:name/download", { schema }, async (request, reply) => {
    const agent = agentOf(request);
    if (!(await isKnown(agent, deps))) throw unknownAgent(agent);
    const { instance = null } = request.query;
    const query = { agent, instanceId: instance, filter: filterOf(request.query) };
    const entries = await lastEntries(deps.logs, query, () => reply.raw.destroyed);
    return reply
      .type("application/x-ndjson; charset=utf-8")
      .header("content-disposition", `attachment; filename="${agent}.log.ndjson"`)
      .header("cache-control", "no-store")
      .send(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  });
}

async function lastEntries(
  logs: LogSource,
  query: Pick<LogPageQuery, "agent" | "instanceId" | "filter">,
  isGone: () => boolean,
): Promise<readonly LogEntry[]> {
  let entries: readonly LogEntry[] = [];
  let before: string | null = null;
  for (let part = 0; part < maxParts && !isGone(); part++) {
    const lines = downloadedLines - entries.length;
    const page = await logs.page(Object.assign({}, query, { lines, from: { before } }));
    entries = [...page.lines.map(({ entry }) => entry), ...entries];
    before = page.older;
    if (before === null || entries.length >= downloadedLines) break;
  }
  return entries;
}
