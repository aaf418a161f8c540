import type { ServerResponse } from "node:http";
import { refusal } from "../../foundation/contracts/run-api.ts";
import type { RunApiError } from "../../foundation/contracts/run-api.ts";

/** The requests of one run whose work is not done. */
export class OpenRequests {
  readonly #max: number;
  readonly #open = new Set<AbortController>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Resolves with what the work resolves with. The work's signal is aborted when the client leaves, or all are ended; then
   * this rejects, whatever becomes of the work.
   */
  async answer<T>(
    response: ServerResponse,
    whyEnded: () => RunApiError,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.#open.size >= this.#max) {
      const detail = `This run waits for ${this.#open.size} answers already.`;
      throw refusal("too_many_requests", detail);
    }
    const left = new AbortController();
    this.#open.add(left);
    response.once("close", () => left.abort());
    const working = work(left.signal);
    // Who hangs up and asks again must not begin more and more: some work outlives its request for a while.
    const done = (): void => void this.#open.delete(left);
    working.then(done, done);
    return Promise.race([working, rejectedAt(left.signal, whyEnded)]);
  }

  endAll(): void {
    for (const request of this.#open) request.abort();
  }
}

function rejectedAt(signal: AbortSignal, why: () => RunApiError): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(why()), { once: true });
  });
}
