import type { HeldLock } from "../contracts/run-state.ts";
import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "./group-commit.ts";

const tokenSetting = "fencing_token";

/**
 * Reads and writes `locks`; every promise resolves once its change is committed. The counter of tokens is stored
 * separately, as it outlives every lock.
 */
export function createLocks(db: DatabaseSync, { write, record }: GroupCommit) {
  const save = db.prepare(
    "INSERT INTO locks VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (resource) DO UPDATE SET agent = excluded.agent, " +
      "instance_id = excluded.instance_id, fencing_token = excluded.fencing_token, " +
      "held_since = excluded.held_since, expires_at = excluded.expires_at",
  );
  const count = db.prepare(
    `INSERT INTO settings VALUES ('${tokenSetting}', ?) ON CONFLICT DO UPDATE SET value = excluded.value
     WHERE CAST(excluded.value AS INTEGER) > CAST(settings.value AS INTEGER)`,
  );
  const remove = db.prepare("DELETE FROM locks WHERE resource = ? AND fencing_token = ?");
  const select = db.prepare(
    `SELECT resource, agent, instance_id AS instanceId, fencing_token AS fencingToken, held_since AS heldSince,
       expires_at AS expiresAt FROM locks`,
  );
  const token = db.prepare(`SELECT value FROM settings WHERE name = '${tokenSetting}'`);
  return {
    /** Saves a new holder, or the same with a later end. */
    save: (lock: HeldLock): Promise<void> =>
      write(() => {
        const { resource, agent, instanceId, fencingToken, heldSince, expiresAt } = lock;
        save.run(resource, agent, instanceId, fencingToken, heldSince, expiresAt);
        count.run(String(fencingToken));
      }),
    /** Waits for the store. */
    remove: ({ resource, fencingToken }: HeldLock): Promise<void> =>
      record(() => {
        remove.run(resource, fencingToken);
      }),
    all: (): readonly HeldLock[] => select.all() as unknown as HeldLock[],
    /** The highest fencing token that was ever saved; 0 before the first. */
    lastToken: () => Number(token.get()?.value ?? 0),
  };
}
