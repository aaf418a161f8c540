import type { IncomingMessage, ServerResponse } from "node:http";
import type { Address } from "./address.ts";
import type { WireApi } from "./wire-api.ts";

/** One request of a run, with its answer. */
export interface Exchange {
  readonly instanceId: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Null when it is malformed. */
  readonly address: Address | null;
  /** Aborts when the client hangs up or the scheduler stops. */
  readonly signal: AbortSignal;
  /** Aborts when the scheduler stops. */
  readonly stopping: AbortSignal;
  /** In whose form errors are sent: guessed from the address until the model is known. */
  shape: Pick<WireApi, "errorBody">;
}

/** Aborts when the client is gone before its answer is complete. */
export function hangUpSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const abort = () => gone.abort(new Error("the client hung up"));
  if (response.destroyed) abort();
  else response.once("close", () => !response.writableFinished && abort());
  return gone.signal;
}
