import type { IncomingMessage, ServerResponse } from "node:http";
import { callHeader, cliHeader } from "../../../foundation/contracts/model-gateway.ts";
import type {
  AnswerScript,
  Meter,
  UpstreamModel,
} from "../../../foundation/contracts/model-gateway.ts";
import type { ModelFailure, ModelVerdict } from "../../wire/protocol.ts";
import { newCall } from "./answer-tap.ts";
import { verdictOn } from "./verdict.ts";
import { messageOf, reasonOf, Problem } from "../../../foundation/errors.ts";
import { createShares } from "../shares.ts";
import { parseAddress, shapeOf, upstreamRoute } from "./address.ts";
import { forwardCall } from "./forward-call.ts";
import { GatewayProblem, sendProblem } from "./gateway-problem.ts";
import { planCall } from "./plan-call.ts";
import { gatewayLimits, type GatewayLimits } from "./limits.ts";
import { createReadOn, hangUpSignal, type Exchange } from "./read-on.ts";
import { createUpstream, UpstreamTimeout } from "./upstream.ts";
import { wireApis } from "./wire-apis.ts";
import { inTurn } from "../../../foundation/contracts/in-turn.ts";
import { JsonSize } from "../../../foundation/contracts/json-size.ts";
import { cutIfSilent } from "../../wire/http-proxy.ts";
import { badRequest, memoryOf, RequestBody } from "./request-body.ts";

interface ModelGatewayDeps {
  /** The model that a run may call by this name. Rejects with the reason if it may not; the run sees the reason. */
  readonly model: (instanceId: string, name: string) => Promise<UpstreamModel>;
  readonly agentOf: (instanceId: string) => string;
  /** Whether the scheduler has asked the run to end. */
  readonly isEnding: (instanceId: string) => boolean;
  readonly meter: Meter;
  readonly answerScript: AnswerScript;
  /**
   * Called for each call, with the id that its client gave it, empty without one, and a function of the verdict so far,
   * null when the scheduler stops: the next one does not know the call.
   */
  readonly onCall: (instanceId: string, call: string, verdict: () => ModelVerdict | null) => void;
  /** Called for each call that the provider refused, once it is answered. */
  readonly onRefused?: (instanceId: string, model: UpstreamModel, refused: RefusedCall) => void;
  /** Called for failures that concern the operator, such as an unreachable provider. */
  readonly onProblem: (problem: { instanceId: string; model: string; error: Error }) => void;
}

export interface RefusedCall {
  readonly status: number;
  readonly failure: ModelFailure;
}

/** `proxyEnv` has `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in upper or lower case. */
export type ModelGatewayOptions = Partial<GatewayLimits> & {
  readonly proxyEnv?: NodeJS.ProcessEnv;
};

/** Forwards the calls of runs to their models: the keys are added here, and each call is metered. */
export function createModelGateway(deps: ModelGatewayDeps, options: ModelGatewayOptions = {}) {
  const limits = { ...gatewayLimits, ...options };
  const upstream = createUpstream(options.proxyEnv ?? process.env, limits.idleMs);
  const readBody = createBodyReader(limits);
  const openRequest = createReadOn(limits);
  const closing = new AbortController();
  const open = new Set<Promise<void>>();

  const answer = async (exchange: Exchange): Promise<void> => {
    const { instanceId, request, address, signal, seen } = exchange;
    if (address === null) throw malformedAddress(request.url ?? "");
    const model = await deps.model(instanceId, address.name).catch((cause: unknown) => {
      throw new GatewayProblem("unknown_model", reasonOf(cause), { cause });
    });
    const api = wireApis[model.api];
    exchange.shape = api;
    const { route, url } = upstreamRoute(request.method ?? "", address, model);
    using body = await readBody(instanceId, request, signal);
    const { isMetered } = route;
    const call = { instanceId, agent: deps.agentOf(instanceId), model, api, url, body, isMetered };
    const plan = await inTurn(instanceId, () => {
      signal.throwIfAborted();
      return planCall(call);
    });
    const { answerBytes } = limits;
    const forwarding = { ...deps, answerBytes, ask: upstream.ask, openRequest };
    try {
      await forwardCall(call, plan, forwarding, exchange);
    } finally {
      // A command line gets some refusals as problems of the gateway.
      const failure = seen.refused && verdictOn(seen).failure;
      if (failure) deps.onRefused?.(instanceId, model, { status: seen.status ?? 0, failure });
    }
  };

  const refuse = (exchange: Exchange, error: unknown): void => {
    const { instanceId, request, response, address, signal, seen } = exchange;
    if (signal.aborted || response.destroyed) return void response.destroy();
    const problem = problemOf(error);
    if (problem.cause instanceof UpstreamTimeout) seen.silentMs = problem.cause.ms;
    seen.problem = problem;
    seen.isBegun = response.headersSent;
    const model = address?.name ?? "";
    if (problem.status >= 500) deps.onProblem({ instanceId, model, error: problem });
    if (seen.isBegun && retriesMissingEnd(exchange)) return void response.end();
    // The connection closes if much of the body is unread: reading it would delay other requests.
    if (!request.complete && isLong(request)) response.shouldKeepAlive = false;
    sendProblem(response, exchange.shape, problem);
  };

  const handleOne = async (
    instanceId: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const address = parseAddress(request.url ?? "");
    const shape = shapeOf(address?.path ?? "");
    const signal = AbortSignal.any([hangUpSignal(response), closing.signal]);
    const stopping = closing.signal;
    const seen = newCall();
    const exchange = { instanceId, request, response, address, signal, stopping, shape, seen };
    const call = String(request.headers[callHeader] ?? "");
    deps.onCall(instanceId, call, () => (stopping.aborted ? null : verdictOn(seen)));
    try {
      await answer(exchange);
    } catch (error) {
      refuse(exchange, error);
    } finally {
      // Discards the unread body, so that the next request of the connection can be read.
      request.resume();
    }
  };

  return {
    /**
     * Answers `POST /model/<name>/<upstream host>/…` of an authenticated run. Resolves when the call is settled, possibly
     * long after the client hung up; never rejects.
     */
    handle: (instanceId: string, request: IncomingMessage, response: ServerResponse) => {
      const handled = handleOne(instanceId, request, response).finally(() => open.delete(handled));
      open.add(handled);
      return handled;
    },
    /** Aborts open calls; resolves when all are settled. */
    close: async () => {
      closing.abort(new Error("the scheduler stops"));
      await Promise.allSettled(open);
      upstream.close();
    },
  };
}

export type ModelGateway = ReturnType<typeof createModelGateway>;

function retriesMissingEnd({ request, shape }: Exchange): boolean {
  return cliHeader in request.headers && shape.cli?.retriesMissingEnd === true;
}

/** The longest body of a refused request that is read so that its connection can be reused, in bytes. */
const shortBody = 64 * 1024;

function isLong({ headers }: IncomingMessage): boolean {
  return Number(headers["content-length"] ?? 0) > shortBody;
}

function malformedAddress(url: string): GatewayProblem {
  return new GatewayProblem(
    "not_allowed",
    `${url.slice(0, 200)} is not /model/<name>/<upstream host>/<path>`,
    { status: 404 },
  );
}

function problemOf(error: unknown): GatewayProblem {
  if (error instanceof GatewayProblem) return error;
  if (error instanceof Problem && error.code === "store_unavailable") {
    return new GatewayProblem(
      error.code,
      `the scheduler can't store this call to a model now: ${messageOf(error.cause)}`,
      { cause: error },
    );
  }
  return new GatewayProblem(
    "internal_error",
    "the scheduler could not handle this call to a model",
    { cause: error },
  );
}

const mebibyte = 1024 * 1024;
/** Memory that each run can use regardless of other runs, in bytes; enough for calls of usual size. */
const assured = 2 * mebibyte;
/** Calls of one run that wait for memory before their bodies are read. */
const maxWaiting = 16;
const tooMany = () =>
  new GatewayProblem("rate_limited", `${maxWaiting} requests of this run wait for memory already`);
/** Serializing recurses, so the depth is limited. */
const maxDepth = 1_000;

/**
 * Reads JSON bodies of any number of runs with bounded memory: a body is not read until the memory for it and its whole
 * call is reserved.
 */
function createBodyReader(limits: GatewayLimits) {
  const { maxBytes, totalBytes: total, runBytes: perOwner } = limits;
  const room = createShares({ total, perOwner, assured, maxWaiting, tooMany });
  /** Rejects with a GatewayProblem for an invalid body, and with the reason of `signal`. */
  return async (
    instanceId: string,
    request: IncomingMessage,
    signal: AbortSignal,
  ): Promise<RequestBody> => {
    const length = lengthOf(request);
    if (length > maxBytes) {
      throw badRequest(413, `the body is larger than ${maxBytes / mebibyte} MiB`);
    }
    const release = await room.acquire(instanceId, memoryOf(length), signal);
    try {
      return new RequestBody(await bytesOf(request, length, limits), release);
    } catch (error) {
      release();
      throw error;
    }
  };
}

/** Memory is reserved by the announced length, so compressed and chunked bodies are rejected. */
function lengthOf({ headers }: IncomingMessage): number {
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    throw badRequest(415, "the body must not be compressed");
  }
  const length = Number(headers["content-length"]);
  if (Number.isInteger(length)) return length;
  throw badRequest(411, "the body has no content-length");
}

async function bytesOf(
  request: IncomingMessage,
  length: number,
  { maxValues, silentMs, timeoutMs }: GatewayLimits,
): Promise<Buffer> {
  cutIfSilent(request, silentMs);
  const late = setTimeout(() => request.destroy(), timeoutMs);
  request.once("close", () => clearTimeout(late)).once("end", () => clearTimeout(late));
  // Copied into one buffer: stored one-byte chunks would take hundreds of bytes each.
  const bytes = Buffer.allocUnsafeSlow(length);
  const size = new JsonSize();
  let read = 0;
  // An answer can still be sent after a partly read body.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of chunks) {
    read += chunk.copy(bytes, read);
    if (size.push(chunk, maxValues).values > maxValues) {
      throw badRequest(413, `the body has more than ${maxValues} values of JSON`);
    }
  }
  if (size.depth > maxDepth) throw badRequest(400, "the body is nested too deep");
  return bytes;
}
