import { AsyncLocalStorage } from "node:async_hooks";
import {
  noMoneyCode,
  overBudgetCodes,
  problemHeader,
} from "../../../foundation/contracts/model-address.ts";
import { retryAfterOf } from "../retry-after.ts";
import { newExchange, streamReader } from "./stream-reader.ts";
import type { Exchange } from "./stream-reader.ts";
import type { Time } from "./time.ts";

interface Watch {
  readonly exchange: Exchange;
  readonly timer: ReturnType<typeof silenceTimer>;
}

const watches = new AsyncLocalStorage<Watch>();
const plainFetch = globalThis.fetch;

/**
 * Does one request to a model and resolves to its result with what was seen on the wire: pi's adapters keep status and
 * headers to themselves, and not all of them take a `fetch` of ours, but all use the global one. `limitMs` is how long
 * the model may be silent.
 */
export async function watchExchange<Result>(
  limitMs: number,
  time: Pick<Time, "after">,
  request: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly exchange: Exchange }> {
  globalThis.fetch = watchedFetch;
  const exchange = newExchange();
  const timer = silenceTimer(limitMs, time, () => (exchange.silentMs = limitMs));
  try {
    return { result: await watches.run({ exchange, timer }, request), exchange };
  } finally {
    timer.stop();
  }
}

/** The arguments of a tool call as the request that is watched now had them at the end of the call. */
export function finalArguments(callId: string): string | undefined {
  return watches.getStore()?.exchange.finalArguments.get(callId);
}

const watchedFetch: typeof fetch = async (input, init) => {
  const watch = watches.getStore();
  if (watch === undefined) return plainFetch(input, init);
  const { exchange, timer } = watch;
  exchange.isSent = true;
  timer.start();
  const signals = [timer.signal, ...(init?.signal ? [init.signal] : [])];
  const timed = { ...init, signal: AbortSignal.any(signals) };
  const dispatcher = unlimitedDispatcher();
  const response = await plainFetch(
    input,
    dispatcher === undefined ? timed : { ...timed, dispatcher },
  );
  exchange.status = response.status;
  exchange.retryAfterMs = retryAfterOf(response.headers, Date.now());
  const problem = response.headers.get(problemHeader) ?? "";
  exchange.isOverBudget = overBudgetCodes.includes(problem);
  exchange.lacksMoney = problem === noMoneyCode;
  const shouldRetry = response.headers.get("x-should-retry");
  exchange.shouldRetry = shouldRetry === null ? null : shouldRetry === "true";
  return response.body === null ? response : watchedBody(response, response.body, watch);
};

function watchedBody(
  response: Response,
  body: NonNullable<Response["body"]>,
  { exchange, timer }: Watch,
): Response {
  const reader = streamReader(exchange);
  const watched = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      timer.start();
      if (response.ok) reader.read(chunk);
      controller.enqueue(chunk);
    },
    flush: () => {
      timer.stop();
      if (response.ok) reader.end();
    },
  });
  const { status, statusText, headers } = response;
  return new Response(body.pipeThrough(watched), { status, statusText, headers });
}

/** Node documents that its `fetch` takes a dispatcher, and keeps its own under this name. */
const globalDispatcher = Symbol.for("undici.globalDispatcher.1");

type Dispatcher = NonNullable<RequestInit["dispatcher"]>;

/**
 * Node's own HTTP client without its limit of 300 s for a silent server: the harness has limits of its own, which
 * may be longer. Undefined where Node keeps none, which leaves its limit in force.
 */
function unlimitedDispatcher(): Dispatcher | undefined {
  const own = Reflect.get(globalThis, globalDispatcher) as Dispatcher | undefined;
  return own?.compose(
    (dispatch) => (options, handler) =>
      dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  );
}

function silenceTimer(limitMs: number, time: Pick<Time, "after">, onSilence: () => void) {
  const controller = new AbortController();
  let stop = () => {};
  const expire = () => {
    onSilence();
    controller.abort(new Error("nothing came in time"));
  };
  return {
    /** Aborted when nothing came for the limit. */
    signal: controller.signal,
    /** Begins to count, again from zero when it counts already. */
    start: () => {
      stop();
      stop = time.after(limitMs, expire);
    },
    stop: () => stop(),
  };
}
