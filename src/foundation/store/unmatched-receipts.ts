import type { DatabaseSync } from "node:sqlite";

/** A delivery that gave an agent no work. */
export interface UnmatchedReceipt {
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  /** Size of its body. */
  readonly bytes: number;
}

/** So many of the newest deliveries are looked through, whatever their sources. */
const mostScanned = 5_000;

/** Reads which `receipts` gave an agent no work. */
export function createUnmatchedReceipts(db: DatabaseSync) {
  // Sizes are taken where the rows are found: a subquery that passes bodies on would read them all.
  // A row of the agent says that it was matched, or disabled, and why nothing ran.
  const find = db.prepare(
    `SELECT id, at, bytes FROM
       (SELECT id, at, seq, source, length(body) AS bytes FROM receipts WHERE at >= :since ORDER BY at DESC, seq DESC LIMIT ${mostScanned}) AS latest
     WHERE source IN (SELECT value FROM json_each(:sources)) AND NOT EXISTS
       (SELECT 1 FROM triggers WHERE receipt_id = latest.id AND agent = :agent)
     ORDER BY at DESC, seq DESC LIMIT :limit`,
  );
  const nth = db.prepare(
    `SELECT at FROM receipts WHERE at >= ? ORDER BY at DESC LIMIT 1 OFFSET ${mostScanned}`,
  );
  return {
    /** Receipts of these sources, the latest first. `since` is epoch ms. */
    of: (
      agent: string,
      asked: {
        readonly sources: readonly string[];
        readonly since: number;
        readonly limit: number;
      },
    ): readonly UnmatchedReceipt[] => {
      const { sources, since, limit } = asked;
      const given = { agent, since, limit, sources: JSON.stringify(sources) };
      return find.all(given) as unknown as UnmatchedReceipt[];
    },
    /** When the first delivery came that was not looked through, epoch ms; null when all since then were. */
    firstLeftOut: (since: number): number | null => {
      const row = nth.get(since);
      return row === undefined ? null : Number(row.at);
    },
  };
}
