import type { IncomingMessage } from "node:http";
import { fastify, type FastifyInstance, type FastifyRequest } from "fastify";
import { z } from "zod";
import { inTurn } from "../../foundation/contracts/in-turn.ts";
import { noSchemaCompilers } from "../../foundation/contracts/request-limit.ts";
import { messageOf, type Problem } from "../../foundation/errors.ts";
import { clientStatus, sendProblem } from "../../foundation/send-problem.ts";
import {
  endedRun,
  isRefusal,
  maxRequestBytes,
  parsed,
  refusal,
  starting,
} from "../wire/protocol.ts";
import type { RequestBody, RequestName, RunApi } from "../wire/protocol.ts";
import { schedulerRequests } from "../wire/requests/table.ts";
import { maxLinesBytes, remotePaths, type RemoteRuns } from "../wire/remote-protocol.ts";
import type { Egress } from "./egress/egress.ts";
import type { FileDoor } from "./file-door.ts";
import type { ModelGateway } from "./model-gateway/model-gateway.ts";
import { cutIfSilent } from "../wire/http-proxy.ts";
import { hangUpSignal } from "./model-gateway/read-on.ts";
import { addRemoteRoutes } from "./remote-routes.ts";
import type { RunSocket } from "./run-socket.ts";
import { createShares } from "./shares.ts";
import { carriesToken } from "./socket-dir.ts";

/** Services that runs reach through their sockets. */
export interface Served {
  readonly runApi: RunApi;
  /** Handles calls to models, which don't match any route: it reads their bodies itself. */
  readonly models: Pick<ModelGateway, "handle">;
  /** Handles trees of files, which don't match any route either; undefined if trees are not supported. */
  readonly files?: Pick<FileDoor, "handle"> | undefined;
  /** Handles requests to other hosts, which don't match any route. */
  readonly egress: Pick<Egress, "connect" | "forward">;
  /** Handles the claims and the output of runs on other machines; undefined if remote runs are not supported. */
  readonly remote?: RemoteRuns | undefined;
  /** Whether logs arrive faster than they are written; remote runs then hold their lines back without losing them. */
  readonly areLogsBehind?: () => boolean;
}

const mebibyte = 1024 * 1024;
/** Memory for the unanswered requests of all runs, in bytes. */
const roomForRequests = {
  total: 32 * mebibyte,
  perOwner: 8 * mebibyte,
  assured: mebibyte,
  maxWaiting: 64,
  tooMany: () =>
    refusal("too_many_requests", "Too many requests of this run wait for memory already."),
};
/** Memory of one request besides its body, in bytes. */
const requestBytes = 64 * 1024;
/** The longest body of a run's open request for messages, in bytes. */
const smallBody = 256;
/** How long a client may pause while sending a body, in ms. */
const silentMs = 10_000;

const keySchema = z.uuid();
type BodySchema = z.ZodType<RequestBody<RequestName>>;

/**
 * Answers the requests of all runs. Does not listen itself: run sockets pass their requests to it. `socketOf` gives the
 * run socket that received a request, `served` null while the scheduler starts.
 */
export function runApiApp(
  socketOf: (request: IncomingMessage) => RunSocket | undefined,
  served: () => Served | null,
  onUnexpected: (instanceId: string, error: unknown) => void,
): FastifyInstance {
  const app = fastify({
    bodyLimit: maxRequestBytes,
    return503OnClosing: false,
    schemaController: noSchemaCompilers,
    // Requests with an invalid URL skip all hooks.
    frameworkErrors: ({ message }, _request, reply) => {
      reply.header("connection", "close");
      void sendProblem(reply, refusal("malformed", message));
    },
  });
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser(["text/plain", "application/json"]);
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    const owner = socketOf(request.raw)?.instanceId ?? "";
    void inTurn(owner, () => parseJson(request, String(body), done));
  });
  app.addHook("onRequest", (request, reply, done) => {
    const socket = socketOf(request.raw);
    const refused = unauthorized(socket, request);
    // The rest of an unauthenticated request is not read.
    if (refused !== null) reply.header("connection", "close");
    else socket?.markAuthenticated(request.raw.socket);
    done(refused ?? undefined);
  });
  const room = createShares(roomForRequests);
  app.addHook("onRequest", async ({ raw, headers, url }, reply) => {
    const instanceId = socketOf(raw)?.instanceId ?? "";
    // Longer bodies are refused before they are read.
    const length = Math.min(Number(headers["content-length"] ?? 0), maxLinesBytes);
    cutIfSilent(raw, silentMs);
    // Each run has one such request open all the time: together they would use up the limit.
    if (url === "/run/inbox" && length < smallBody) return;
    const bytes = requestBytes + 2 * length;
    const release = await room.acquire(instanceId, bytes, hangUpSignal(reply.raw));
    reply.raw.once("close", () => release());
  });
  app.setErrorHandler((error, request, reply) => {
    const { instanceId = "" } = socketOf(request.raw) ?? {};
    return sendProblem(
      reply,
      problemOf(error, (unexpected) => onUnexpected(instanceId, unexpected)),
    );
  });
  app.setNotFoundHandler((request, reply) => {
    const detail = `There is no ${request.method} ${request.url.slice(0, 100)}.`;
    return sendProblem(reply, refusal("malformed", detail));
  });
  addRemoteRoutes(app, {
    socketOf,
    remote: () => served()?.remote ?? null,
    areLogsBehind: () => served()?.areLogsBehind?.() ?? false,
  });
  for (const name of Object.keys(schedulerRequests) as RequestName[]) {
    const schema: BodySchema = schedulerRequests[name].request(z);
    app.post(`/run/${name}`, async (request, reply) => {
      const [socket, service] = [socketOf(request.raw), served()?.runApi];
      if (socket === undefined || service === undefined) throw starting();
      const key = parsed(keySchema, request.headers["idempotency-key"], "Idempotency-Key");
      const body = parsed(schema, request.body, name);
      const { instanceId } = socket;
      return socket.requests.answer(
        reply.raw,
        () => endedRun(socket.ended),
        (signal) => service.perform({ instanceId, ability: name, key, request: body, signal }),
      );
    });
  }
  return app;
}

/** The refusal of an unauthenticated request, or null. Called before the body is read. */
function unauthorized(socket: RunSocket | undefined, { headers, url }: FastifyRequest) {
  if (socket === undefined || socket.ended === "over") return endedRun("over");
  const { tokenHash, ticketHash } = socket.tokens;
  const isClaim = url === remotePaths.claim;
  if (!carriesToken(headers.authorization, isClaim ? ticketHash : tokenHash)) {
    return refusal("unauthorized", "The token does not belong to the run of this socket.");
  }
  return socket.ended === null ? null : endedRun(socket.ended);
}

/** The refusal for any error. Unexpected errors are passed to `onUnexpected`; the run may retry, as after a restart. */
function problemOf(error: unknown, onUnexpected: (error: unknown) => void): Problem {
  if (isRefusal(error)) return error;
  // Invalid JSON, a body that is too large, an unsupported media type.
  if (clientStatus(error) !== null) return refusal("malformed", messageOf(error));
  onUnexpected(error);
  return refusal("unavailable", "The scheduler failed to do this; its log has the reason.");
}
