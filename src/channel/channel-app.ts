import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { fastify } from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { maxRequestBytes, refusal } from "../contracts/run-api.ts";
import type { RequestBody, RequestName, RunApi } from "../contracts/run-api.ts";
import { schedulerRequests } from "../contracts/run-requests/table.ts";
import { schemaProblems } from "../contracts/schema-problems.ts";
import { channelProblemOf, sendChannelProblem } from "./channel-problem.ts";
import { carriesToken } from "./token.ts";

/** One run as its requests meet it. */
export interface Channel {
  readonly instanceId: string;
  readonly tokenHash: string;
  /** Why nothing is answered any more; null while the run lives. */
  ended(): "over" | "closing" | null;
  /** The requests whose work is not done. */
  readonly open: Set<AbortController>;
  /** A request that came by this connection has the run's token. */
  markAuthenticated(connection: Socket): void;
}

export interface ChannelAppOptions {
  /** Whose socket a request came by. */
  readonly channelOf: (request: IncomingMessage) => Channel | undefined;
  /** What does the work now; null while the scheduler starts. */
  readonly abilities: () => RunApi | null;
  /** Requests of one run that may wait at the same time. */
  readonly maxOpenRequests: number;
  readonly onUnexpected: (instanceId: string, error: unknown) => void;
}

const keySchema = z.uuid();
type BodySchema = z.ZodType<RequestBody<RequestName>>;

/** What answers the requests of all runs, whatever socket they came by; it listens on none itself. */
export function channelApp(options: ChannelAppOptions): FastifyInstance {
  const app = fastify({
    ...{ bodyLimit: maxRequestBytes, return503OnClosing: false },
    // What has no address at all passes no hook.
    frameworkErrors: ({ message }, _request, reply) => {
      reply.header("connection", "close");
      void sendChannelProblem(reply, refusal("malformed", message));
    },
  });
  app.removeContentTypeParser("text/plain");
  app.addHook("onRequest", (request, reply, done) => {
    const channel = options.channelOf(request.raw);
    const refused = unauthorized(channel, request);
    // The rest of an unauthenticated request is not read.
    if (refused !== null) reply.header("connection", "close");
    else channel?.markAuthenticated(request.raw.socket);
    done(refused ?? undefined);
  });
  app.setErrorHandler((error, request, reply) => {
    const instanceId = options.channelOf(request.raw)?.instanceId ?? "";
    const tell = (unexpected: unknown): void => options.onUnexpected(instanceId, unexpected);
    return sendChannelProblem(reply, channelProblemOf(error, tell));
  });
  app.setNotFoundHandler((request, reply) => {
    const detail = `There is no ${request.method} ${request.url.slice(0, 100)}.`;
    return sendChannelProblem(reply, refusal("malformed", detail));
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
function unauthorized(channel: Channel | undefined, { headers }: FastifyRequest) {
  if (channel === undefined || channel.ended() === "over") {
    return refusal("unauthorized", "This run is over.");
  }
  if (!carriesToken(headers.authorization, channel.tokenHash)) {
    return refusal("unauthorized", "This is not the token of the run whose socket this is.");
  }
  return channel.ended() === "closing" ? closing() : null;
}

function closing() {
  return refusal("unavailable", "The scheduler is stopping.");
}

async function answer(
  name: RequestName,
  schema: BodySchema,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ChannelAppOptions,
): Promise<FastifyReply> {
  const channel = options.channelOf(request.raw);
  const does = options.abilities();
  if (channel === undefined || does === null) {
    throw refusal("unavailable", "The scheduler is starting.");
  }
  const key = parsed(keySchema, request.headers["idempotency-key"], "Idempotency-Key");
  const body = parsed(schema, request.body, name);
  if (channel.open.size >= options.maxOpenRequests) {
    const detail = `This run waits for ${channel.open.size} answers already.`;
    throw refusal("too_many_requests", detail);
  }
  const left = new AbortController();
  channel.open.add(left);
  reply.raw.once("close", () => left.abort());
  const { instanceId } = channel;
  const work = does.perform({ instanceId, ability: name, key, request: body, signal: left.signal });
  // Who hangs up and asks again must not begin more and more: some work outlives its request for a while.
  const done = (): void => void channel.open.delete(left);
  work.then(done, done);
  const given = await Promise.race([work, ended(left.signal, channel)]);
  return reply.send(given);
}

/** Rejects when the request is to be answered whatever becomes of its work. */
function ended(signal: AbortSignal, channel: Channel): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void =>
      reject(channel.ended() === "over" ? refusal("unauthorized", "This run is over.") : closing());
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** What was asked, checked; the message names what is wrong and repeats nothing of it. */
function parsed<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusal("malformed", `${what}: ${schemaProblems(result.error)}`);
}
