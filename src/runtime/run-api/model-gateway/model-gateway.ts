import type { IncomingMessage, ServerResponse } from "node:http";
import type {
  AnswerScript,
  Meter,
  UpstreamModel,
} from "../../../foundation/contracts/model-gateway.ts";
import { messageOf, reasonOf, UserError } from "../../../foundation/errors.ts";
import { createShares } from "../shares.ts";
import { parseAddress, shapeOf, upstreamRoute } from "./address.ts";
import { createBodyReader } from "./body-reader.ts";
import { forwardCall } from "./forward-call.ts";
import { GatewayProblem, sendProblem } from "./gateway-problem.ts";
import { planCall } from "./plan-call.ts";
import { gatewayLimits } from "./limits.ts";
import type { GatewayLimits } from "./limits.ts";
import { createReadOn, hangUpSignal } from "./read-on.ts";
import type { Exchange } from "./read-on.ts";
import { createUpstream } from "./upstream.ts";
import { wireApis } from "./wire-apis.ts";

interface ModelGatewayDeps {
  /** The model that a run may call by this name. Rejects with the reason if it may not; the run sees the reason. */
  readonly model: (instanceId: string, name: string) => Promise<UpstreamModel>;
  readonly agentOf: (instanceId: string) => string;
  readonly meter: Meter;
  readonly answerScript: AnswerScript;
  /** Called for failures that concern the operator, such as an unreachable provider. */
  readonly onProblem: (problem: { instanceId: string; model: string; error: Error }) => void;
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
  const parsing = createShares({ total: 1, perOwner: 1 });
  const openRequest = createReadOn(limits);
  const closing = new AbortController();
  const open = new Set<Promise<void>>();

  const answer = async (exchange: Exchange): Promise<void> => {
    const { instanceId, request, address, signal } = exchange;
    if (address === null) throw malformedAddress(request.url ?? "");
    const model = await deps.model(instanceId, address.name).catch((cause: unknown) => {
      throw new GatewayProblem(404, "unknown_model", reasonOf(cause), { cause });
    });
    const api = wireApis[model.api];
    exchange.shape = api;
    const { route, url } = upstreamRoute(request.method ?? "", address, model);
    using body = await readBody(instanceId, request, signal);
    const { isMetered } = route;
    const call = { instanceId, agent: deps.agentOf(instanceId), model, api, url, body, isMetered };
    // Releases after a turn of the event loop, so that other requests are served between two parsed bodies.
    setImmediate(await parsing.acquire(instanceId, 1, signal));
    const plan = planCall(call);
    await forwardCall(call, plan, { ...deps, ask: upstream.ask, openRequest }, exchange);
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
    const exchange = { instanceId, request, response, address, signal, stopping, shape };
    try {
      await answer(exchange);
    } catch (error) {
      if (signal.aborted || response.destroyed) return void response.destroy();
      const problem = problemOf(error);
      const model = address?.name ?? "";
      if (problem.status >= 500) deps.onProblem({ instanceId, model, error: problem });
      // The connection closes if much of the body is unread: reading it would delay other requests.
      if (!request.complete && isLong(request)) response.shouldKeepAlive = false;
      sendProblem(response, exchange.shape, problem);
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

/** The longest body of a refused request that is read so that its connection can be reused, in bytes. */
const shortBody = 64 * 1024;

function isLong({ headers }: IncomingMessage): boolean {
  return Number(headers["content-length"] ?? 0) > shortBody;
}

function malformedAddress(url: string): GatewayProblem {
  const message = `${url.slice(0, 200)} is not /model/<name>/<upstream host>/<path>`;
  return new GatewayProblem(404, "not_allowed", message);
}

function problemOf(error: unknown): GatewayProblem {
  if (error instanceof GatewayProblem) return error;
  const passing = { isPassing: true, cause: error };
  if (error instanceof UserError && error.code === "store_unavailable") {
    const message = `the scheduler can't store this call to a model now: ${messageOf(error.cause)}`;
    return new GatewayProblem(503, error.code, message, passing);
  }
  const message = "the scheduler could not handle this call to a model";
  return new GatewayProblem(500, "internal_error", message, passing);
}
