import type { IncomingMessage, ServerResponse } from "node:http";
import type {
  AnswerScript,
  Meter,
  UpstreamModel,
} from "../../../foundation/contracts/model-gateway.ts";
import { messageOf, reasonOf, UserError } from "../../../foundation/errors.ts";
import { createShares } from "../shares.ts";
import { parseAddress, shapeOf, upstreamRoute } from "./address.ts";
import { createBodyReader, defaultBodyLimits } from "./body-reader.ts";
import type { BodyLimits } from "./body-reader.ts";
import { hangUpSignal } from "./exchange.ts";
import type { Exchange } from "./exchange.ts";
import { forwardCall } from "./forward-call.ts";
import { GatewayProblem, sendProblem } from "./gateway-problem.ts";
import { planCall } from "./plan-call.ts";
import { createReadOn, defaultReadOnLimits } from "./read-on.ts";
import type { ReadOnLimits } from "./read-on.ts";
import { createUpstream, defaultIdleMs } from "./upstream.ts";
import type { UpstreamOptions } from "./upstream.ts";
import { wireApis } from "./wire-apis.ts";

export interface ModelGatewayDeps {
  /** The model that a run may ask by a name. Rejects with the reason why it can't, for the run to read. */
  readonly model: (instanceId: string, name: string) => Promise<UpstreamModel>;
  readonly agentOf: (instanceId: string) => string;
  readonly meter: Meter;
  readonly answerScript: AnswerScript;
  /** What an operator may want to know of a call that failed here, such as a provider that cannot be reached. */
  readonly onProblem: (problem: CallProblem) => void;
}

export interface CallProblem {
  readonly instanceId: string;
  /** Name in the project's config, as it was asked. */
  readonly model: string;
  readonly error: Error;
}

export type ModelGatewayOptions = Partial<BodyLimits & UpstreamOptions & ReadOnLimits>;

export interface ModelGateway {
  /**
   * Answers `POST /model/<name>/<upstream host>/…` of a run that has proved who it is. Resolves when the call is settled,
   * which may be a while after its client is gone; never rejects.
   */
  readonly handle: (
    instanceId: string,
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<void>;
  /** Cuts what is open; resolves when it is settled. */
  readonly close: () => Promise<void>;
}

/** Forwards the calls of runs to their models: the keys are added here, and each call is metered. */
export function createModelGateway(
  deps: ModelGatewayDeps,
  options: ModelGatewayOptions = {},
): ModelGateway {
  const { proxyEnv = process.env, idleMs = defaultIdleMs } = options;
  const upstream = createUpstream({ proxyEnv, idleMs });
  const readBody = createBodyReader({ ...defaultBodyLimits, ...options });
  const parsing = createShares({ total: 1, perOwner: 1 });
  const openRequest = createReadOn({ ...defaultReadOnLimits, ...options });
  const closing = new AbortController();
  const open = new Set<Promise<void>>();

  const answer = async (exchange: Exchange): Promise<void> => {
    const { instanceId, request, address, signal } = exchange;
    if (address === null) throw malformedAddress(request.url ?? "");
    const model = await deps.model(instanceId, address.name).catch((error: unknown) => {
      throw unknownModel(error);
    });
    const api = wireApis[model.api];
    exchange.shape = api;
    const { route, url } = upstreamRoute(request.method ?? "", address, model);
    using body = await readBody(instanceId, request, signal);
    const { isMetered } = route;
    const call = { instanceId, agent: deps.agentOf(instanceId), model, api, url, body, isMetered };
    // Others than calls to models are served in between.
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
      // A long rest is not read on: it would take the time of others.
      if (!request.complete && isLong(request)) response.shouldKeepAlive = false;
      sendProblem(response, exchange.shape, problem);
    } finally {
      // What the client still sends must not hold up the next request of its connection.
      request.resume();
    }
  };

  return {
    handle: (instanceId, request, response) => {
      const handled = handleOne(instanceId, request, response).finally(() => open.delete(handled));
      open.add(handled);
      return handled;
    },
    close: async () => {
      closing.abort(new Error("the scheduler stops"));
      await Promise.allSettled(open);
      upstream.close();
    },
  };
}

/** What is read of a refused request, so that its connection can have another one, in bytes. */
const shortBody = 64 * 1024;

function isLong({ headers }: IncomingMessage): boolean {
  return Number(headers["content-length"] ?? 0) > shortBody;
}

function unknownModel(error: unknown): GatewayProblem {
  const problem = { status: 404, code: "unknown_model", message: reasonOf(error) };
  return new GatewayProblem(problem, { cause: error });
}

function malformedAddress(url: string): GatewayProblem {
  const message = `${url.slice(0, 200)} is not /model/<name>/<upstream host>/<path>`;
  return new GatewayProblem({ status: 404, code: "not_allowed", message });
}

function problemOf(error: unknown): GatewayProblem {
  if (error instanceof GatewayProblem) return error;
  if (error instanceof UserError && error.code === "store_unavailable") {
    const message = `the scheduler can't store this call to a model now: ${messageOf(error.cause)}`;
    const problem = { status: 503, code: error.code, message };
    return new GatewayProblem(problem, { isPassing: true, cause: error });
  }
  const message = "the scheduler could not handle this call to a model";
  const problem = { status: 500, code: "internal_error", message };
  return new GatewayProblem(problem, { isPassing: true, cause: error });
}
