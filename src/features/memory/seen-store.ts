import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";

/** How many ids of a memory are stored: the latest ones. */
const mostSeen = 10_000;

/** Reads and writes `memory_seen`: what the runs of an agent have handled. */
export function createSeen(db: DatabaseSync, { write }: GroupCommit) {
  const find = db.prepare("SELECT 1 FROM memory_seen WHERE name = ? AND id = ?");
  const replace = db.prepare("INSERT OR REPLACE INTO memory_seen (name, id) VALUES (?, ?)");
  const dropOldest = db.prepare(
    `DELETE FROM memory_seen WHERE name = :name AND seq <=
      (SELECT seq FROM memory_seen WHERE name = :name ORDER BY seq DESC LIMIT 1 OFFSET ${mostSeen})`,
  );
  const has = (name: string, id: string): boolean => find.get(name, id) !== undefined;
  return {
    has,
    /** Resolves once it is committed, to whether it was there before; it is the latest then. */
    add: (name: string, id: string): Promise<boolean> =>
      write(() => {
        const was = has(name, id);
        replace.run(name, id);
        dropOldest.run({ name });
        return was;
      }),
  };
}
