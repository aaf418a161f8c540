import { readBeside } from "./read-beside.ts";

/** What names an entry of the history. `at` is epoch ms. */
export interface RecentEntry {
  readonly id: string;
  readonly at: number;
  readonly agent: string | null;
  readonly receiptId: string | null;
  readonly instanceId: string | null;
  readonly outcome: string | null;
}

/** The latest entries, newest first; empty where there is no store. */
export function readRecentEntries(projectDir: string, limit: number): readonly RecentEntry[] {
  const none: readonly RecentEntry[] = [];
  return readBeside(
    projectDir,
    (db) =>
      db
        .prepare(
          `SELECT id, at, agent, receipt_id AS receiptId, instance_id AS instanceId, outcome
             FROM triggers ORDER BY seq DESC LIMIT ?`,
        )
        .all(limit) as unknown as readonly RecentEntry[],
    none,
  );
}
