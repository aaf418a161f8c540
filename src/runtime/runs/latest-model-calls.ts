import type { ModelVerdict } from "../wire/protocol.ts";

/** More than a harness has open at once: it asks for the verdict as soon as a call has ended. */
const most = 16;

/** The verdicts on a run's latest calls to models, by their ids; of calls without an id (`""`) only the latest. */
export class LatestModelCalls {
  readonly #verdicts = new Map<string, () => ModelVerdict | null>();
  /** How many calls without an id failed in a row, before the latest. */
  #failures = 0;

  get isEmpty(): boolean {
    return this.#verdicts.size === 0;
  }

  add(call: string, verdict: () => ModelVerdict | null): void {
    const verdicts = this.#verdicts;
    if (call === "") this.#failures = this.verdictOn("")?.failures ?? 0;
    verdicts.delete(call);
    const [oldest] = verdicts.keys();
    if (oldest !== undefined && verdicts.size === most) verdicts.delete(oldest);
    verdicts.set(call, verdict);
  }

  /** Null for an unknown call. */
  verdictOn(call: string): ModelVerdict | null {
    const verdict = this.#verdicts.get(call)?.() ?? null;
    if (verdict === null || call !== "") return verdict;
    return { ...verdict, failures: verdict.failure === null ? 0 : this.#failures + 1 };
  }
}
