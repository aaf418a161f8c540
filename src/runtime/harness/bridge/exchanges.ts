import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  callHeader,
  factsTrailer,
  noMoneyCode,
  overBudgetCodes,
  problemHeader,
} from "../../../foundation/contracts/model-gateway.ts";
import type { AnswerFacts } from "../../../foundation/contracts/model-gateway.ts";
import { retryAfterOf } from "../provider-failure.ts";
import type { Time } from "../run-clock.ts";

/** The bridge's observations of one request to a model, in addition to the client's own message. */
export interface Exchange extends AnswerFacts {
  /** False if the client failed before it sent a request. */
  isSent: boolean;
  /** The status of the response; null without a response. */
  status: number | null;
  /** From the response's headers, in ms. */
  retryAfterMs: number | null;
  /** The provider's own word on a retry (`x-should-retry`), null without one. */
  shouldRetry: boolean | null;
  /** Whether the scheduler refused the call for its budget. */
  isOverBudget: boolean;
  /** Whether only the lack of money caused the refusal. */
  lacksMoney: boolean;
  /** How long the model was silent when the request was cut for it, in ms; null if it wasn't cut. */
  silentMs: number | null;
  /** Whether the answer was cut because the scheduler ended. */
  isInterrupted: boolean;
  /** Whether the answer was cut because it exceeded the limit. */
  isTooLong: boolean;
}

export function newExchange(): Exchange {
  return {
    isSent: false,
    status: null,
    retryAfterMs: null,
    shouldRetry: null,
    isOverBudget: false,
    lacksMoney: false,
    silentMs: null,
    isInterrupted: false,
    isTooLong: false,
    refusal: "",
    blocked: null,
    streamError: null,
    cutCalls: [],
  };
}

/** An open exchange. */
export interface Watch {
  readonly exchange: Exchange;
  /** Cuts the response to the client when the model is silent for the limit. */
  begin(response: ServerResponse): void;
  onHead(answer: IncomingMessage): void;
  onBytes(): void;
  onEnd(answer: IncomingMessage): void;
}

/** The exchanges that the harness observes: clients of providers don't expose status, headers and all of a stream. */
export function createExchanges() {
  const open = new Map<string, Watch>();
  return {
    /** The watch of a request; undefined for a request that the harness did not mark. */
    watchOf: ({ headers }: IncomingMessage) => open.get(String(headers[callHeader])),
    /**
     * Makes one request, which has to send the given headers, and resolves to its result with the observed exchange.
     * `limitMs` is how long the model may be silent.
     */
    observe: async <Result>(
      limitMs: number,
      time: Pick<Time, "after">,
      request: (headers: Readonly<Record<string, string>>) => Promise<Result>,
    ): Promise<{ readonly result: Result; readonly exchange: Exchange }> => {
      const id = randomUUID();
      const { watch, stop } = createWatch(limitMs, time);
      open.set(id, watch);
      try {
        return { result: await request({ [callHeader]: id }), exchange: watch.exchange };
      } finally {
        stop();
        open.delete(id);
      }
    },
  };
}

function createWatch(limitMs: number, { after }: Pick<Time, "after">) {
  const exchange = newExchange();
  let client: ServerResponse | null = null;
  let stop = (): void => undefined;
  const expire = (): void => {
    exchange.silentMs = limitMs;
    client?.destroy();
  };
  const restart = (): void => {
    stop();
    stop = after(limitMs, expire);
  };
  const watch: Watch = {
    exchange,
    begin: (response) => {
      client = response;
      exchange.isSent = true;
      restart();
    },
    onHead: ({ statusCode = null, headers }) => {
      restart();
      const problem = String(headers[problemHeader] ?? "");
      const shouldRetry = headers["x-should-retry"];
      exchange.status = statusCode;
      exchange.retryAfterMs = retryAfterOf(headers, Date.now());
      exchange.isOverBudget = overBudgetCodes.includes(problem);
      exchange.lacksMoney = problem === noMoneyCode;
      exchange.shouldRetry = shouldRetry === undefined ? null : shouldRetry === "true";
    },
    onBytes: restart,
    onEnd: ({ trailers }) => {
      stop();
      const facts = trailers[factsTrailer];
      if (facts !== undefined) Object.assign(exchange, JSON.parse(decodeURIComponent(facts)));
    },
  };
  return { watch, stop: () => stop() };
}
