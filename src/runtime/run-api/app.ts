import { STATUS_CODES } from "node:http";
import type { IncomingMessage } from "node:http";
import { fastify } from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { noSchemaCompilers } from "../../foundation/contracts/no-schema-compilers.ts";
import {
  maxRequestBytes,
  refusal,
  runApiErrors,
  RunApiError,
} from "../../foundation/contracts/run-api.ts";
import type { RequestBody, RequestName, RunApi } from "../../foundation/contracts/run-api.ts";
import { schedulerRequests } from "../../foundation/contracts/run-requests/table.ts";
import { maxLinesBytes, remotePaths } from "../../foundation/contracts/remote-run.ts";
import type { RemoteRuns } from "../../foundation/contracts/remote-run.ts";
import type { Egress } from "./egress/egress.ts";
import type { ModelGateway } from "./model-gateway/model-gateway.ts";
import { cutIfSilent } from "./cut-if-silent.ts";
import { hangUpSignal } from "./model-gateway/exchange.ts";
import { endedRun, parsed, starting } from "./refusals.ts";
import { addRemoteRoutes } from "../cluster/door/remote-routes.ts";
import type { RunSocket } from "./run-socket.ts";
import { createShares, TooManyWaiting } from "./shares.ts";
import { carriesToken } from "./token.ts";

/** What runs reach by their sockets. */
export interface Served {
  readonly runApi: RunApi;
  /** Takes the calls to models as they came: streams, whose bodies are not read before. */
  readonly models: Pick<ModelGateway, "handle">;
  /** Takes what is for other hosts; it comes by no route. */
  readonly egress: Pick<Egress, "connect" | "forward">;
  /** Takes the claims and the output of runs on other machines; undefined where there can be none. */
  readonly remote?: RemoteRuns | undefined;
  /** Whether the logs can't be written as fast as they come: lines that wait on other machines are not lost. */
  readonly areLogsBehind?: () => boolean;
}

export interface RunApiAppOptions {
  /** Whose socket a request came by. */
  readonly socketOf: (request: IncomingMessage) => RunSocket | undefined;
  /** Null while the scheduler starts. */
  readonly served: () => Served | null;
  readonly onUnexpected: (instanceId: string, error: unknown) => void;
}

const mebibyte = 1024 * 1024;
/** What requests of all runs take, in bytes of memory, until they are answered. */
const roomForRequests = {
  total: 32 * mebibyte,
  perOwner: 8 * mebibyte,
  assured: mebibyte,
  maxWaiting: 64,
};
/** What one takes beside its body. */
const requestBytes = 64 * 1024;
/** How long a client may send nothing of its body, in ms. */
const silentMs = 10_000;

const keySchema = z.uuid();
type BodySchema = z.ZodType<RequestBody<RequestName>>;

/** Answers the requests of all runs, whatever socket they came by; it listens on none itself. */
export function runApiApp(options: RunApiAppOptions): FastifyInstance {
  const app = fastify({
    bodyLimit: maxRequestBytes,
    return503OnClosing: false,
    schemaController: noSchemaCompilers,
    // What has no address at all passes no hook.
    frameworkErrors: ({ message }, _request, reply) => {
      reply.header("connection", "close");
      void sendProblem(reply, refusal("malformed", message));
    },
  });
  app.removeContentTypeParser("text/plain");
  app.addHook("onRequest", (request, reply, done) => {
    const socket = options.socketOf(request.raw);
    const refused = unauthorized(socket, request);
    // The rest of an unauthenticated request is not read.
    if (refused !== null) reply.header("connection", "close");
    else socket?.markAuthenticated(request.raw.socket);
    done(refused ?? undefined);
  });
  const room = createShares(roomForRequests);
  app.addHook("onRequest", async ({ raw, headers, url }, reply) => {
    const instanceId = options.socketOf(raw)?.instanceId ?? "";
    // A call to a model counts for itself.
    if (url.startsWith("/model/")) return;
    // A longer one is refused before it is read.
    const length = Math.min(Number(headers["content-length"] ?? 0), maxLinesBytes);
    const bytes = requestBytes + 2 * length;
    const release = await room.acquire(instanceId, bytes, hangUpSignal(reply.raw)).catch(asBusy);
    reply.raw.once("close", () => release());
    cutIfSilent(raw, silentMs);
  });
  app.setErrorHandler((error, request, reply) => {
    const instanceId = options.socketOf(request.raw)?.instanceId ?? "";
    const log = (unexpected: unknown): void => options.onUnexpected(instanceId, unexpected);
    return sendProblem(reply, problemOf(error, log));
  });
  app.setNotFoundHandler((request, reply) => {
    const detail = `There is no ${request.method} ${request.url.slice(0, 100)}.`;
    return sendProblem(reply, refusal("malformed", detail));
  });
  void app.register((calls, _options, registered) => {
    calls.removeAllContentTypeParsers();
    calls.addContentTypeParser("*", (_request, _body, done) => done(null));
    calls.post("/model/*", (request, reply) => callModel(request, reply, options));
    registered();
  });
  addRemoteRoutes(app, {
    socketOf: options.socketOf,
    remote: () => options.served()?.remote ?? null,
    areLogsBehind: () => options.served()?.areLogsBehind?.() ?? false,
  });
  for (const name of Object.keys(schedulerRequests) as RequestName[]) {
    const schema: BodySchema = schedulerRequests[name].request(z);
    const perform = (request: FastifyRequest, reply: FastifyReply) =>
      answer(name, schema, request, reply, options);
    app.post(`/run/${name}`, perform);
  }
  return app;
}

/** Before anything is read of the body. */
function unauthorized(socket: RunSocket | undefined, { headers, url }: FastifyRequest) {
  if (socket === undefined || socket.ended === "over") return endedRun("over");
  const { tokenHash, ticketHash } = socket.tokens;
  const isClaim = url === remotePaths.claim;
  if (!carriesToken(headers.authorization, isClaim ? ticketHash : tokenHash)) {
    return refusal("unauthorized", "This is not the token of the run whose socket this is.");
  }
  return socket.ended === null ? null : endedRun(socket.ended);
}

function asBusy(error: unknown): never {
  if (!(error instanceof TooManyWaiting)) throw error;
  throw refusal("too_many_requests", "Too many requests of this run wait for memory already.");
}

function callModel(
  request: FastifyRequest,
  reply: FastifyReply,
  { socketOf, served }: RunApiAppOptions,
): FastifyReply {
  const socket = socketOf(request.raw);
  const { models } = served() ?? {};
  if (socket === undefined || models === undefined) throw starting();
  reply.hijack();
  void models.handle(socket.instanceId, request.raw, reply.raw);
  return reply;
}

async function answer(
  name: RequestName,
  schema: BodySchema,
  request: FastifyRequest,
  reply: FastifyReply,
  options: RunApiAppOptions,
): Promise<FastifyReply> {
  const socket = options.socketOf(request.raw);
  const { runApi } = options.served() ?? {};
  if (socket === undefined || runApi === undefined) throw starting();
  const key = parsed(keySchema, request.headers["idempotency-key"], "Idempotency-Key");
  const body = parsed(schema, request.body, name);
  const { instanceId } = socket;
  const given = await socket.requests.answer(
    reply.raw,
    () => endedRun(socket.ended),
    (signal) => runApi.perform({ instanceId, ability: name, key, request: body, signal }),
  );
  return reply.send(given);
}

/** The refusal for any error. One that is not expected goes to `onUnexpected`; the run may retry, as after a restart. */
function problemOf(error: unknown, onUnexpected: (error: unknown) => void): RunApiError {
  if (error instanceof RunApiError) return error;
  const { statusCode = 500, message } = error as { statusCode?: number; message: string };
  // The framework's own: not JSON, too large, another media type.
  if (statusCode >= 400 && statusCode < 500) return refusal("malformed", message);
  onUnexpected(error);
  return refusal("unavailable", "The scheduler could not do it; its log says why.");
}

/** Responds with the problem document (RFC 9457). */
function sendProblem(reply: FastifyReply, { problem }: RunApiError): FastifyReply {
  const status = runApiErrors[problem.error];
  if (problem.error === "unauthorized") reply.header("www-authenticate", "Bearer");
  return reply
    .code(status)
    .type("application/problem+json")
    .send(JSON.stringify({ type: "about:blank", title: STATUS_CODES[status], status, ...problem }));
}
