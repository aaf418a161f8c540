import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { fastify } from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { maxRequestBytes, refusal } from "../contracts/run-api.ts";
import type { RequestBody, RequestName, RunApi } from "../contracts/run-api.ts";
import { schedulerRequests } from "../contracts/run-requests/table.ts";
import { schemaProblems } from "../contracts/schema-problems.ts";
import { problemOf, sendProblem } from "./problem.ts";
import { carriesToken } from "./token.ts";

/** One run as its requests meet it. */
export interface RunSocket {
  readonly instanceId: string;
  readonly tokenHash: string;
  /** Why nothing is answered any more; null while the run lives. */
  ended(): "over" | "closing" | null;
  /** The requests whose work is not done. */
  readonly open: Set<AbortController>;
  /** A request that came by this connection has the run's token. */
  markAuthenticated(connection: Socket): void;
}

export interface RunApiAppOptions {
  /** Whose socket a request came by. */
  readonly socketOf: (request: IncomingMessage) => RunSocket | undefined;
  /** What does the work now; null while the scheduler starts. */
  readonly abilities: () => RunApi | null;
  /** Requests of one run that may wait at the same time. */
  readonly maxOpenRequests: number;
  readonly onUnexpected: (instanceId: string, error: unknown) => void;
}

const keySchema = z.uuid();
type BodySchema = z.ZodType<RequestBody<RequestName>>;

/** What answers the requests of all runs, whatever socket they came by; it listens on none itself. */
export function runApiApp(options: RunApiAppOptions): FastifyInstance {
  const app = fastify({
    ...{ bodyLimit: maxRequestBytes, return503OnClosing: false },
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
  app.setErrorHandler((error, request, reply) => {
    const instanceId = options.socketOf(request.raw)?.instanceId ?? "";
    const tell = (unexpected: unknown): void => options.onUnexpected(instanceId, unexpected);
    return sendProblem(reply, problemOf(error, tell));
  });
  app.setNotFoundHandler((request, reply) => {
    const detail = `There is no ${request.method} ${request.url.slice(0, 100)}.`;
    return sendProblem(reply, refusal("malformed", detail));
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
function unauthorized(socket: RunSocket | undefined, { headers }: FastifyRequest) {
  if (socket === undefined || socket.ended() === "over") {
    return refusal("unauthorized", "This run is over.");
  }
  if (!carriesToken(headers.authorization, socket.tokenHash)) {
    return refusal("unauthorized", "This is not the token of the run whose socket this is.");
  }
  return socket.ended() === "closing" ? closing() : null;
}

function closing() {
  return refusal("unavailable", "The scheduler is stopping.");
}

async function answer(
  name: RequestName,
  schema: BodySchema,
  request: FastifyRequest,
  reply: FastifyReply,
  options: RunApiAppOptions,
): Promise<FastifyReply> {
  const socket = options.socketOf(request.raw);
  const does = options.abilities();
  if (socket === undefined || does === null) {
    throw refusal("unavailable", "The scheduler is starting.");
  }
  const key = parsed(keySchema, request.headers["idempotency-key"], "Idempotency-Key");
  const body = parsed(schema, request.body, name);
  if (socket.open.size >= options.maxOpenRequests) {
    const detail = `This run waits for ${socket.open.size} answers already.`;
    throw refusal("too_many_requests", detail);
  }
  const left = new AbortController();
  socket.open.add(left);
  reply.raw.once("close", () => left.abort());
  const { instanceId } = socket;
  const work = does.perform({ instanceId, ability: name, key, request: body, signal: left.signal });
  // Who hangs up and asks again must not begin more and more: some work outlives its request for a while.
  const done = (): void => void socket.open.delete(left);
  work.then(done, done);
  const given = await Promise.race([work, ended(left.signal, socket)]);
  return reply.send(given);
}

/** Rejects when the request is to be answered whatever becomes of its work. */
function ended(signal: AbortSignal, socket: RunSocket): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void =>
      reject(socket.ended() === "over" ? refusal("unauthorized", "This run is over.") : closing());
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** What was asked, checked; the message names what is wrong and repeats nothing of it. */
function parsed<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusal("malformed", `${what}: ${schemaProblems(result.error)}`);
}
