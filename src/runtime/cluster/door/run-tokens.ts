import { bridgeKey } from "../../../foundation/contracts/bridge-key.ts";
import { refusal } from "../../../foundation/contracts/run-api.ts";
import { hashOf, newToken } from "../../run-api/token.ts";

/** By what a run proves who it is: SHA-256 as hex, null where nothing does. */
export interface RunTokens {
  readonly tokenHash: string | null;
  /** The ticket of a run on another machine. */
  readonly ticketHash: string | null;
  /** A token for the claimer with this id; committed. Rejects with a RunApiError for any other one. */
  claim(claimId: string): Promise<string>;
}

/** The tokens of a run that has its token from its start. */
export function fixedTokens(tokenHash: string | null): RunTokens {
  const claim = () => Promise.reject(refusal("unauthorized", "This run has no ticket."));
  return { tokenHash, ticketHash: null, claim };
}

/** What the scheduler stores of a run on another machine. */
export interface StoredRemoteRun {
  readonly instanceId: string;
  /** The TLS server name by which the door knows it. */
  readonly name: string;
  readonly ticketHash: string;
  /** Null before its claim. */
  readonly tokenHash: string | null;
}

export interface RemoteTokensDeps {
  readonly records: {
    /** Resolves once committed, with false when another claim was before. The same claim again replaces the token. */
    claim(instanceId: string, claimId: string, tokenHash: string): Promise<boolean>;
  };
  readonly redactor: { add(secrets: readonly string[]): () => void };
}

/** The ticket of a run on another machine and, once claimed, its token. */
export class RemoteTokens implements RunTokens, Disposable {
  readonly ticketHash: string;
  tokenHash: string | null;
  readonly #instanceId: string;
  readonly #deps: RemoteTokensDeps;
  readonly #known = new DisposableStack();

  constructor({ instanceId, ticketHash, tokenHash }: StoredRemoteRun, deps: RemoteTokensDeps) {
    this.#instanceId = instanceId;
    this.ticketHash = ticketHash;
    this.tokenHash = tokenHash;
    this.#deps = deps;
  }

  /** Takes a secret out of all texts until the run is over. */
  keepSecret(...secrets: readonly string[]): void {
    // Worth nothing then, and each known secret makes looking through a text slower.
    if (!this.#known.disposed) this.#known.defer(this.#deps.redactor.add(secrets));
  }

  /** The answer to a claim may have been lost, so the same claimer gets another token for asking again. */
  async claim(claimId: string): Promise<string> {
    const token = newToken();
    const tokenHash = hashOf(token);
    if (!(await this.#deps.records.claim(this.#instanceId, claimId, tokenHash))) {
      throw refusal("claimed", "Another process has claimed this run.");
    }
    this.keepSecret(token, bridgeKey(token));
    this.tokenHash = tokenHash;
    return token;
  }

  [Symbol.dispose](): void {
    this.#known.dispose();
  }
}
