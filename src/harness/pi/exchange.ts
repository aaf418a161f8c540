/** What the harness saw of one request to a model, beside what pi makes of it. */
export interface Exchange {
  /** False when pi failed before it sent anything. */
  isSent: boolean;
  /** Of the response; null when none came. */
  status: number | null;
  /** From the response's headers, in ms. */
  retryAfterMs: number | null;
  /** The provider's own word on a retry (`x-should-retry`), null without one. */
  shouldRetry: boolean | null;
  /** For how long nothing came when the request was given up, in ms; null when it was not. */
  silentMs: number | null;
  /** The model's words of refusal, which pi takes for ordinary text or leaves out. */
  refusal: string;
  /** Why the provider did not pass the prompt to the model. */
  blocked: string | null;
  /** The code or type of an error that came inside of the stream. */
  streamError: string | null;
}

export function newExchange(): Exchange {
  return {
    isSent: false,
    status: null,
    retryAfterMs: null,
    shouldRetry: null,
    silentMs: null,
    refusal: "",
    blocked: null,
    streamError: null,
  };
}
