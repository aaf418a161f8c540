import type { DatabaseSync } from "node:sqlite";
import type { StoredItems } from "../../../streams/runs/hold-work.ts";
import type { GroupCommit } from "./group-commit.ts";
import { itemOf, waiting, workColumns, type WorkRow } from "./recover.ts";
import { openTriggers } from "./trigger-rows.ts";

/** How many items are in memory at once, beside those in the agents' queues. */
const itemsPerPart = 200;

/** Reads waiting work in its order, a part at a time: while new work is paused, it is in the store alone. */
export function createWaitingWork(db: DatabaseSync, { record }: GroupCommit) {
  const queued = `${openTriggers} AND state = 'queued'`;
  const last = db.prepare(`SELECT seq FROM ${queued} ORDER BY seq DESC LIMIT 1`);
  const after = db.prepare(
    `SELECT seq, ${workColumns} FROM ${queued} AND seq > ?
     ORDER BY seq LIMIT ${itemsPerPart}`,
  );
  const ofAgent = db.prepare(`SELECT count(*) AS n FROM ${queued} AND agent = ?`);
  const byAgent = db.prepare(
    `SELECT agent, count(*) AS n FROM ${queued} AND agent IS NOT NULL GROUP BY agent`,
  );
  return {
    /** The place of the last committed item; 0 without one. */
    lastPlace: () => Number(last.get()?.seq ?? 0),
    /** The committed items after this place. */
    after: (place: number): StoredItems => {
      const rows = after.all(place) as unknown as readonly (WorkRow & { readonly seq: number })[];
      const items = rows.map((row) => waiting(itemOf(row)));
      return { items, last: rows.at(-1)?.seq ?? place, isEnd: rows.length < itemsPerPart };
    },
    /** Resolves once all earlier writes are committed; waits for the store. */
    committed: () => record(() => undefined),
    count: (agent: string) => Number(ofAgent.get(agent)?.n),
    /** Amount of waiting work by agent, without agents that have none. */
    counts: (): ReadonlyMap<string, number> =>
      new Map(byAgent.all().map(({ agent, n }) => [String(agent), Number(n)])),
  };
}
