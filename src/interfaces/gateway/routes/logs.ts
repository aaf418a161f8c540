import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { EMPTY, map, retry, startWith, switchMap, timer } from "rxjs";
import { logEntrySchema } from "../../../../streams/status/wire.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import type { LogLine, LogPageQuery, LogQuery } from "../../../foundation/logs/log-query.ts";
import type { LogSource } from "../../../foundation/logs/log-source.ts";
import { agentWithLog, filterOf, logFilterQuery } from "../../operations/read-log.ts";
import { readFirstPart, type FirstPart, type LogPart } from "../../dashboard/log/log-session.ts";
import type { LogChoice } from "../../dashboard/kit/list-view.ts";
import { hasCode } from "../../../foundation/errors.ts";
import { agentOf } from "../../../foundation/logs/log-reader.ts";
import { agentParams } from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
import { endOfAccess } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentLogEvents, textsPerTurn } from "../log-events.ts";
import { performed, queryOf } from "../page-data.ts";
import type { EventStreams } from "../sse.ts";
import type { IsMine } from "../../../foundation/operation.ts";
import { limitOf, onlyMine } from "../token-limits.ts";

const { get } = routesOf("Logs");

/** The last lines that a download holds. */
const downloadedLines = 5_000;
/** A filter with few matches reads this many parts of the log, of 32 MiB each. */
const maxParts = 16;

const streamQuery = z.object({
  lines: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(100)
    .meta({ description: "Number of last lines to send first" }),
  after: z
    .string()
    .max(500)
    .optional()
    .meta({ description: "Where to resume, for a client that can't set `Last-Event-ID`" }),
});
const agentQuery = logFilterQuery.extend(streamQuery.shape);
const followedQuery = agentQuery.extend({ agent: agentParams.shape.name });
/** Logs that one stream follows. */
export const followedLogsSchema = z
  .union([z.string(), z.array(z.string()).max(200)])
  .default([])
  .transform((logs) =>
    [logs].flat().map((log) => Object.fromEntries(queryOf(log)) as z.input<typeof followedQuery>),
  )
  .pipe(z.array(followedQuery))
  .meta({
    description: "One for each log to follow: `?agent=…` with the parameters of its stream",
  });
const allQuery = logFilterQuery.pick({ instance: true }).extend(streamQuery.shape);
const streamed = {
  description:
    "Event `log` (LogEntry) for each line, the last ones first. Its id goes into `Last-Event-ID` to resume " +
    "without lost or repeated lines.",
  produces: "text/event-stream",
  config: { stream: "logs" },
} as const;

/** Log lines as streams. */
export const logRoutes = (deps: GatewayDeps, streams: EventStreams) => [
  get("/dashboard/api/logs/:name/stream", {
    ...streamed,
    summary: "An agent's log as Server-Sent Events",
    params: agentParams,
    query: agentQuery,
    events: { log: logEntrySchema },
    problems: [404],
    handle: async (request, reply) => {
      const { params, query, headers } = request;
      const agent = await agentWithLog(params.name, deps.context);
      const lines = { ...lineQuery(query, headers), agent };
      const { first, more$ } = await agentLogEvents(deps.context.logs, lines, filterOf(query));
      streams.serve(request, reply, more$.pipe(startWith(first)), endOfAccess(request, deps));
      return reply;
    },
  }),
  get("/api/logs/stream", {
    ...streamed,
    summary: "The logs of all agents and the scheduler as Server-Sent Events",
    query: allQuery,
    isAbout: ({ query }, isMine) => isMine(agentOf(query.instance ?? null)),
    events: { log: logEntrySchema },
    handle: (request, reply) => {
      // Positions are exact within one agent's files. A merge of all has no exact one: it is followed in one go, which
      // also gives its beginning in one turn.
      const lines = { ...lineQuery(request.query, request.headers), agent: null };
      const isMine = limitOf(request);
      const { status } = deps.context;
      const isKnown: IsMine = (agent) => agent != null && status.agent(agent) !== undefined;
      const shown = ({ id, entry }: LogLine): LogLine => ({
        id,
        entry: isMine === null ? entry : (onlyMine(entry, isMine, isKnown) as LogEntry),
      });
      const events$ = textsPerTurn(deps.context.logs.follow(lines).pipe(map(shown)));
      streams.serve(request, reply, events$, endOfAccess(request, deps));
    },
  }),
];

/** An agent's log as a file, with the filter of the log page. */
export const logDownloadRoutes = (deps: GatewayDeps) => [
  get("/dashboard/api/logs/:name/download", {
    summary: `The last ${downloadedLines} lines of an agent's log that match, as a file`,
    description: "With a filter the last 512 MiB of the log are searched.",
    query: logFilterQuery,
    params: agentParams,
    produces: "application/x-ndjson",
    problems: [404],
    handle: async ({ params, query }, reply) => {
      const agent = await agentWithLog(params.name, deps.context);
      const wanted = { agent, instanceId: query.instance ?? null, filter: filterOf(query) };
      const entries = await lastEntries(deps.context.logs, wanted, () => reply.raw.destroyed);
      return reply
        .type("application/x-ndjson; charset=utf-8")
        .header("content-disposition", `attachment; filename="${agent}.log.ndjson"`)
        .header("cache-control", "no-store")
        .send(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    },
  }),
];

/** The part of an agent's log that a page is rendered with. */
export function firstPartOf(
  agent: string,
  choice: LogChoice,
  deps: GatewayDeps,
  limit?: number,
): Promise<FirstPart | null> {
  const read = (path: string) => {
    const query = queryOf(path);
    query.set("name", agent);
    return performed("GET /api/logs/agents/:name", query, deps) as Promise<LogPart>;
  };
  return readFirstPart(agent, choice, read, limit);
}

const retryMs = 3_000;

/** The logs that one stream follows; one that is gone has no lines, and one that can't be read is tried again. */
export async function followedLogs(
  wanted: z.output<typeof followedLogsSchema>,
  deps: GatewayDeps,
): Promise<readonly Awaited<ReturnType<typeof agentLogEvents>>[]> {
  const followed = wanted.map(async (query, at) => {
    const read = async () => {
      const agent = await agentWithLog(query.agent, deps.context);
      const lines = { ...lineQuery(query, {}), agent };
      return agentLogEvents(deps.context.logs, lines, filterOf(query), `log-${at}`);
    };
    try {
      return await read();
    } catch (error) {
      if (hasCode(error, "unknown_agent")) return { first: "", more$: EMPTY };
      // Retried later, so that the stream's other logs don't wait for it.
      const again$ = timer(retryMs).pipe(switchMap(read));
      const more$ = again$.pipe(
        retry(),
        switchMap(({ first, more$: later$ }) => later$.pipe(startWith(first))),
      );
      return { first: "", more$ };
    }
  });
  return Promise.all(followed);
}

function lineQuery(
  { lines, instance, after }: z.infer<typeof allQuery>,
  headers: IncomingHttpHeaders,
): Omit<LogQuery, "agent"> {
  const lastEventId = headers["last-event-id"];
  const from = typeof lastEventId === "string" ? lastEventId : after;
  return { instanceId: instance ?? null, lines, after: from ?? null };
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
