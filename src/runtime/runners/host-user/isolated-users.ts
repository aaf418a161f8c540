import type { RunNetwork } from "../../../../streams/run-network.ts";
import type { BeginRecord } from "./run-log.ts";

/**
 * The OS users whose runs could be isolated, as the runs' logs have it, those of adopted runs included. A run could
 * otherwise open the network of its user's next one, by whatever makes the kernel refuse.
 */
export class IsolatedUsers {
  readonly #closed = new Set<string>();
  readonly #confined = new Set<string>();

  /** A run of this user began. */
  note(user: string, { isClosed = false, unconfined }: BeginRecord): void {
    if (isClosed) this.#closed.add(user);
    if (unconfined === null) this.#confined.add(user);
  }

  /** Whether an earlier run of this user was isolated as one with this network is to be. */
  has(user: string, network: RunNetwork): boolean {
    return (network === "open" ? this.#confined : this.#closed).has(user);
  }
}
