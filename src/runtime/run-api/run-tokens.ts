import { bridgeKey } from "../../foundation/contracts/model-gateway.ts";
import { refusal } from "../wire/protocol.ts";
import { hashOf, newToken } from "./socket-dir.ts";

/** Hashes of the secrets that authenticate a run: SHA-256 as hex, null if the run has no such secret. */
export interface RunTokens {
  readonly tokenHash: string | null;
  /** The ticket of a run on another machine. */
  readonly ticketHash: string | null;
  /** A committed token for the claimer with this id. Rejects with a Problem for any other claimer. */
  claim(claimId: string): Promise<string>;
}

/** The tokens of a run whose token is fixed from its start. */
export function fixedTokens(tokenHash: string | null): RunTokens {
  const claim = () => Promise.reject(refusal("unauthorized", "This run has no ticket."));
  return { tokenHash, ticketHash: null, claim };
}

/** The scheduler's record of a run on another machine. */
export interface StoredRemoteRun {
  readonly instanceId: string;
  /** The TLS server name that identifies it at the door. */
  readonly name: string;
  readonly ticketHash: string;
  /** Null before its claim. */
  readonly tokenHash: string | null;
}

export interface RemoteTokensDeps {
  readonly records: {
    /** Resolves once committed, with false if another claim came first. The same claim again replaces the token. */
    claim(instanceId: string, claimId: string, tokenHash: string): Promise<boolean>;
  };
  readonly redactor: { add(secrets: readonly string[]): () => void };
}

/** The ticket of a run on another machine and, once claimed, its token. */
export function createRemoteTokens(
  { instanceId, ticketHash, tokenHash }: StoredRemoteRun,
  { records, redactor }: RemoteTokensDeps,
) {
  const known = new DisposableStack();
  /** Redacts secrets in all texts until the run has ended. */
  const keepSecret = (...secrets: readonly string[]): void => {
    // After the run's end its secrets are invalid, and each known secret slows redaction down.
    if (!known.disposed) known.defer(redactor.add(secrets));
  };
  const tokens = {
    ticketHash,
    tokenHash,
    keepSecret,
    /** The answer to a claim may have been lost, so the same claimer gets another token for a repeated claim. */
    claim: async (claimId: string): Promise<string> => {
      const token = newToken();
      const hash = hashOf(token);
      if (!(await records.claim(instanceId, claimId, hash))) {
        throw refusal("claimed", "Another process has claimed this run.");
      }
      keepSecret(token, bridgeKey(token));
      tokens.tokenHash = hash;
      return token;
    },
    [Symbol.dispose]: () => known.dispose(),
  };
  return tokens;
}
