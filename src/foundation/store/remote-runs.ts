import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "./group-commit.ts";
import { beginRun } from "./work.ts";

/** How a run on another machine proves who it is. */
export interface RemoteRun {
  readonly instanceId: string;
  /** The TLS server name that identifies it at the door. */
  readonly name: string;
  /** SHA-256 of its ticket, hex. */
  readonly ticketHash: string;
}

/** With its claim, if there is one. */
export interface StoredRemoteRun extends RemoteRun {
  /** SHA-256 of its token, hex. */
  readonly tokenHash: string | null;
}

/** Reads and writes `remote_runs`, the live ones, so that a restarted scheduler knows them and their claims. */
export function createRemoteRuns(db: DatabaseSync, { write, record }: GroupCommit) {
  const insert = db.prepare(
    "INSERT INTO remote_runs (instance_id, name, ticket) VALUES ($id, $name, $ticket)",
  );
  const claim = db.prepare(`
    UPDATE remote_runs SET claim = $claim, token = $token
      WHERE instance_id = $id AND (claim IS NULL OR claim = $claim)
  `);
  const begin = db.prepare(beginRun);
  const remove = db.prepare("DELETE FROM remote_runs WHERE instance_id = ?");
  const select = db.prepare(`
    SELECT instance_id AS instanceId, name, ticket AS ticketHash, token AS tokenHash FROM remote_runs
  `);
  return {
    /** Resolves once committed; waits for the store, as remove does. */
    add: ({ instanceId, name, ticketHash }: RemoteRun): Promise<void> =>
      record(() => {
        insert.run({ $id: instanceId, $name: name, $ticket: ticketHash });
      }),
    /**
     * Also records that the run begins. Resolves once committed: false if another claim came first. The same claim again
     * replaces the token. Rejects while the store is not available: the claimer repeats it.
     */
    claim: (instanceId: string, claimId: string, tokenHash: string): Promise<boolean> =>
      write(() => {
        const { changes } = claim.run({ $id: instanceId, $claim: claimId, $token: tokenHash });
        if (changes === 1) begin.run(instanceId);
        return changes === 1;
      }),
    remove: (instanceId: string): Promise<void> =>
      record(() => {
        remove.run(instanceId);
      }),
    all: (): readonly StoredRemoteRun[] => select.all() as unknown as StoredRemoteRun[],
  };
}
