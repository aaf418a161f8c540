import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance } from "fastify";
import { auditTime, buffer, concat, concatMap, connect, defer, filter, map, of } from "rxjs";
import type { Observable } from "rxjs";
import { z } from "zod";
import {
  agentSchema as agentStatusSchema,
  logEntrySchema,
} from "../../../../streams/status/wire.ts";
import { logMatcher } from "../../../foundation/contracts/log-filter.ts";
import type { LogFilter } from "../../../foundation/contracts/log-filter.ts";
import type {
  LogLine,
  LogPage,
  LogQuery,
  LogSource,
} from "../../../foundation/contracts/log-source.ts";
import { agentParams } from "../api/answers.ts";
import { filterOf, logFilterQuery } from "../api/log-filter.ts";
import { withZod } from "../api/zod-types.ts";
import { endOfAccess } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentOf, unknownAgent } from "../names.ts";
import { eventText } from "../sse.ts";
import type { EventStreams } from "../sse.ts";
import { withStatus } from "./log-status.ts";

const streamQuery = z.object({
  lines: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(100)
    .meta({ description: "How many of the last lines to begin with" }),
  after: z
    .string()
    .max(500)
    .optional()
    .meta({ description: "Where to resume, for a client that can't set `Last-Event-ID`" }),
});
const agentQuery = logFilterQuery.extend(streamQuery.shape).extend({
  status: z.literal("true").optional().meta({
    description:
      "With event `agent` (Agent) for the agent as it is now, and each time that it changes",
  }),
});
const allQuery = logFilterQuery.pick({ instance: true }).extend(streamQuery.shape);
const shared = {
  tag: "Logs",
  produces: "text/event-stream",
  events: { log: logEntrySchema },
};
const description =
  "Event `log` (LogEntry) for each line, the last ones first. Its id goes into `Last-Event-ID` to resume with " +
  "nothing lost or doubled.";
const agentSchema = {
  ...shared,
  description,
  events: { log: logEntrySchema, agent: agentStatusSchema.nullable() },
  querystring: agentQuery,
  params: agentParams,
  problems: [404],
  summary: "An agent's log as Server-Sent Events",
};
const allSchema = {
  ...shared,
  description,
  querystring: allQuery,
  summary: "The logs of all agents and the scheduler as Server-Sent Events",
};

/** Log lines as a stream: of one agent, or of all. */
export function logRoutes(app: FastifyInstance, deps: GatewayDeps, streams: EventStreams): void {
  const api = withZod(app);
  const config = { stream: "logs" } as const;
  const ofAgent = { config, schema: agentSchema };
  api.get("/dashboard/api/logs/:name/stream", ofAgent, async (request, reply) => {
    const agent = agentOf(request);
    if (!(await isKnown(agent, deps))) throw unknownAgent(agent);
    const query = logQuery(request.query, request.headers);
    const log$ = agentLogEvents(deps.logs, { ...query, agent }, filterOf(request.query));
    const hasStatus = request.query.status === "true";
    const events$ = hasStatus ? withStatus(log$, agent, deps.operations) : log$;
    streams.serve(request, reply, events$, endOfAccess(request, deps));
    return reply;
  });

  api.get("/api/logs/stream", { config, schema: allSchema }, (request, reply) => {
    // Positions are exact within one agent's files. A merge of all has no exact one: it is followed in one go, which
    // gives its beginning in one turn too.
    const query = { ...logQuery(request.query, request.headers), agent: null };
    const events$ = textsPerTurn(deps.logs.follow(query));
    streams.serve(request, reply, events$, endOfAccess(request, deps));
  });
}

/** An agent that is gone still has its log, and the scheduler has one too. */
export async function isKnown(agent: string, { operations, logs }: GatewayDeps): Promise<boolean> {
  if (agent === "scheduler") return true;
  if (operations.hasAgent(agent)) return true;
  return (await logs.read({ agent, instanceId: null, lines: 1, after: null })).length > 0;
}

function logQuery(
  { lines, instance, after }: z.infer<typeof allQuery>,
  headers: IncomingHttpHeaders,
): Omit<LogQuery, "agent"> {
  const lastEventId = headers["last-event-id"];
  const position = typeof lastEventId === "string" ? lastEventId : after;
  return { instanceId: instance ?? null, lines, after: position ?? null };
}

/** An agent's lines so far in one text, however many they are, then the new ones of each turn; those that pass the filter. */
function agentLogEvents(
  logs: LogSource,
  query: LogQuery & { readonly agent: string },
  wanted: LogFilter,
): Observable<string> {
  const { matches } = logMatcher(wanted);
  return defer(() => beginning(logs, query, wanted)).pipe(
    concatMap(({ lines, newer }) => {
      // Without a line there is no position to go on from; asking the same again can't miss the first one.
      const rest = newer === null ? query : { ...query, lines: 0, after: newer };
      const line$ = logs.follow(rest).pipe(filter(({ entry }) => matches(entry)));
      const first = lines.filter(({ entry }) => matches(entry));
      return concat(of(first.map(lineText).join("")), textsPerTurn(line$));
    }),
  );
}

/** The lines that a stream begins with, and the position after them. */
async function beginning(
  logs: LogSource,
  query: LogQuery & { readonly agent: string },
  wanted: LogFilter,
): Promise<Pick<LogPage, "lines" | "newer">> {
  const { agent, instanceId, lines, after } = query;
  if (after === null && lines > 0) {
    return logs.page({ agent, instanceId, filter: wanted, lines, from: { before: null } });
  }
  const found = await logs.read(query);
  return { lines: found, newer: found.at(-1)?.id ?? null };
}

function textsPerTurn(line$: Observable<LogLine>): Observable<string> {
  return line$.pipe(
    map(lineText),
    connect((text$) => text$.pipe(buffer(text$.pipe(auditTime(0))))),
    map((texts) => texts.join("")),
  );
}

function lineText({ id, entry }: LogLine): string {
  return eventText("log", id, JSON.stringify(entry));
}
