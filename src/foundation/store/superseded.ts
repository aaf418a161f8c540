import type { DatabaseSync } from "node:sqlite";
import { refusedOutcomes } from "../../../streams/outcomes.ts";

const refused = refusedOutcomes.map((outcome) => `'${outcome}'`).join(", ");

const too = "; work that it superseded can be replayed, too";

/** Which work took the place of other work of its key. All writes are inside the caller's transaction. */
export function createSuperseded(db: DatabaseSync) {
  const mark = db.prepare("UPDATE triggers SET superseded_by = ? WHERE id = ?");
  const move = db.prepare("UPDATE triggers SET superseded_by = ? WHERE superseded_by = ?");
  // Work that was superseded before it started leads on to the work that superseded it.
  const unstarted = db.prepare(
    `WITH RECURSIVE up (id) AS (SELECT :id UNION
       SELECT superseded_by FROM triggers JOIN up USING (id)
       WHERE outcome = 'superseded' AND (started_at IS NULL OR id = :id))
     SELECT id, reason FROM triggers JOIN up USING (id)
     WHERE state = 'ended' AND started_at IS NULL AND outcome IN (${refused})`,
  );
  const revive = db.prepare(
    `WITH RECURSIVE down (id, started) AS (SELECT :id, NULL UNION
       SELECT triggers.id, started_at FROM triggers JOIN down ON superseded_by = down.id
       WHERE outcome = 'superseded' AND down.started IS NULL)
     UPDATE triggers SET dead_letter = 1, reason = reason || :why
     WHERE id IN (SELECT id FROM down) AND id <> :id AND dead_letter = 0`,
  );
  const add = db.prepare(
    "UPDATE triggers SET dead_letter = 1, reason = reason || :why WHERE id = :id",
  );
  return {
    /** Newer work takes the place of this item, or ends its run. */
    mark: (id: string, by: string): void => void mark.run(by, id),
    /** The work of an item that never began waits again as another item. */
    move: (id: string, again: string): void => void move.run(again, id),
    /** An item of a key has ended. If the newest item of its chain never started, all that it superseded can be replayed. */
    ended: (id: string): void => {
      for (const last of unstarted.all({ id })) {
        const [by, reason] = [String(last.id), String(last.reason)];
        const own = reason.replace(too, "");
        const { changes } = revive.run({ id: by, why: `; ${by} never started: ${own}` });
        if (changes > 0 && own === reason) add.run({ id: by, why: too });
      }
    },
  };
}
