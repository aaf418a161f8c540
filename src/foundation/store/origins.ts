import type { DatabaseSync } from "node:sqlite";

/**
 * Reads which people wrote the deliveries that led to a run: its own, those that it took while it waited, and those of the
 * runs whose calls or sessions led to it.
 */
export function createOrigins(db: DatabaseSync) {
  // A row without a stored caller, and a receipt that retention deleted, could have had any name.
  const select = db.prepare(
    `WITH RECURSIVE up (instance) AS (
       SELECT ?
       UNION SELECT each.value FROM up JOIN triggers ON instance_id = up.instance,
         json_each(json_array(caller, continues)) AS each WHERE each.value IS NOT NULL),
     work AS (SELECT triggers.* FROM up JOIN triggers ON instance_id = up.instance)
     SELECT each.value AS name FROM work,
       json_each(json_array(trigger ->> '$.event.author', trigger ->> '$.event.sender')) AS each
       WHERE kind = 'webhook' AND each.value IS NOT NULL
     UNION SELECT '' FROM work WHERE kind = 'webhook'
       AND coalesce(trigger ->> '$.event.author', trigger ->> '$.event.sender') IS NULL
     UNION SELECT coalesce(each.value, '') FROM work, json_each(gathered) AS receipt
       LEFT JOIN receipts ON receipts.id = receipt.value
       LEFT JOIN json_each(coalesce(receipts.names, '[""]')) AS each
       WHERE gathered IS NOT NULL
     UNION SELECT '' FROM up WHERE NOT EXISTS (SELECT 1 FROM triggers WHERE instance_id = up.instance)`,
  );
  return {
    /**
     * The authors and senders of these deliveries, each once, an empty one for a delivery without any; null if no delivery
     * led to the run.
     */
    namesOf: (instanceId: string): readonly string[] | null => {
      const names = select.all(instanceId).map(({ name }) => String(name));
      return names.length === 0 ? null : names;
    },
  };
}
