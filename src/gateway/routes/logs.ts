import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance } from "fastify";
import { auditTime, buffer, concat, concatMap, connect, defer, map, of } from "rxjs";
import type { Observable } from "rxjs";
import { z } from "zod";
import { logEntrySchema } from "../../../streams/status/wire.ts";
import type { LogLine, LogQuery, LogSource } from "../../contracts/log-source.ts";
import { agentParams } from "../api/answers.ts";
import { withZod } from "../api/zod-types.ts";
import { endOfAccess } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import { agentOf, unknownAgent } from "../names.ts";
import { eventText } from "../sse.ts";
import type { EventStreams } from "../sse.ts";

const logStreamQuery = z.object({
  lines: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(100)
    .meta({ description: "How many of the last lines to begin with" }),
  instance: z.string().max(200).optional().meta({ description: "Only lines of this run" }),
  after: z
    .string()
    .max(500)
    .optional()
    .meta({ description: "Where to resume, for a client that can't set `Last-Event-ID`" }),
});
const shared = {
  tag: "Logs",
  querystring: logStreamQuery,
  produces: "text/event-stream",
  events: { log: logEntrySchema },
};
const description =
  "Event `log` (LogEntry) for each line, the last ones first. Its id goes into `Last-Event-ID` to resume with " +
  "nothing lost or doubled.";
const agentSchema = {
  ...shared,
  description,
  params: agentParams,
  problems: [404],
  summary: "An agent's log as Server-Sent Events",
};
const allSchema = {
  ...shared,
  description,
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
    const events$ = logEvents(deps.logs, logQuery(agent, request.query, request.headers));
    streams.serve(request, reply, events$, endOfAccess(request, deps));
    return reply;
  });

  api.get("/api/logs/stream", { config, schema: allSchema }, (request, reply) => {
    const events$ = logEvents(deps.logs, logQuery(null, request.query, request.headers));
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
  agent: string | null,
  { lines, instance, after }: z.infer<typeof logStreamQuery>,
  headers: IncomingHttpHeaders,
): LogQuery {
  const lastEventId = headers["last-event-id"];
  const position = typeof lastEventId === "string" ? lastEventId : after;
  return { agent, instanceId: instance ?? null, lines, after: position ?? null };
}

/**
 * The texts of a log stream: the lines so far in one, then the new ones of each turn. Positions are exact within one
 * agent's files, so there the beginning is read first and gone on from, however long it is. A merge of all agents
 * has no exact one: it is followed in one go, which gives its beginning in one turn too.
 */
function logEvents(logs: LogSource, query: LogQuery): Observable<string> {
  if (query.agent === null) return textsPerTurn(logs.follow(query));
  return defer(() => logs.read(query)).pipe(
    concatMap((lines) => {
      const last = lines.at(-1);
      // Without a line there is no position to go on from; asking the same again can't miss the first one.
      const rest = last === undefined ? query : { ...query, lines: 0, after: last.id };
      return concat(of(lines.map(lineText).join("")), textsPerTurn(logs.follow(rest)));
    }),
  );
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
