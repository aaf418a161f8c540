import type { DatabaseSync } from "node:sqlite";
import type { FeatureTables } from "../../foundation/store/feature-tables.ts";
import { openTriggers } from "../../foundation/store/trigger-rows.ts";

/**
 * Calls to models. `reserved` is set while a call is open; `seen` is the cost of its request and of the answer so far, which
 * is charged if the scheduler dies. `nano_usd` is by price even if a subscription pays. An account of `spend` is one scope
 * in one window: `until` is when the window turns, or when its run last spent, `refused` why the run's last call was
 * rejected. `model_call_days` has sums in REAL, so that a report adds up days and not calls.
 */
export const spendTables: FeatureTables = {
  steps: [createTables(), "", "ALTER TABLE model_calls ADD COLUMN seen INTEGER;"],
  growing: [{ table: "model_calls", batch: 200, where: "reserved IS NULL" }],
  // Windows and runs that have ended: a limit still counts the spending of a suspended run from weeks ago.
  expire: `DELETE FROM spend WHERE until < ? AND reserved = 0 AND scope NOT IN
    (SELECT 'run:' || instance_id FROM ${openTriggers} AND instance_id IS NOT NULL)`,
  recover: spendOpenReservations,
};

/**
 * Charges calls that a dead scheduler left open for what was sent and seen, in place of their reservations. Inside the
 * caller's transaction, before any call begins.
 */
function spendOpenReservations(db: DatabaseSync): void {
  // Also for a run that ended before its call, whose cost includes the reservation.
  const less = `
    SELECT coalesce(sum(iif(billing = 'subscription', 0, coalesce(seen, held)) - held), 0)
      FROM (SELECT *, reserved AS held FROM model_calls WHERE reserved IS NOT NULL)`;
  db.exec(`
    UPDATE triggers SET cost_usd = cost_usd + (${less} AS open WHERE open.instance_id = triggers.instance_id) / 1e9
      WHERE cost_usd IS NOT NULL
        AND instance_id IN (SELECT instance_id FROM model_calls WHERE reserved IS NOT NULL);
    UPDATE spend SET reserved = 0, nano = nano + reserved + (${less} AS open
        WHERE spend.scope = 'run:' || open.instance_id
          OR spend.scope IN ('project', 'agent:' || open.agent)
            AND spend.window IN (open.day, substr(open.day, 1, 7)))
      WHERE reserved <> 0;
    UPDATE model_calls SET nano_usd = coalesce(seen, reserved), estimated = 1, reserved = NULL
      WHERE reserved IS NOT NULL;
  `);
}

function createTables(): string {
  return `
  CREATE TABLE model_calls (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    day TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    provider_model TEXT NOT NULL,
    billing TEXT NOT NULL CHECK (billing IN ('priced', 'unpriced', 'subscription')),
    reserved INTEGER,
    status INTEGER,
    input INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    cache_write_1h INTEGER,
    output INTEGER,
    nano_usd INTEGER NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0,
    first_byte_ms INTEGER,
    total_ms INTEGER
  ) STRICT;
  CREATE INDEX model_calls_by_time ON model_calls (at);
  CREATE INDEX model_calls_by_agent ON model_calls (agent, at);
  CREATE INDEX model_calls_by_run ON model_calls (instance_id, seq);
  CREATE INDEX model_calls_open ON model_calls (seq) WHERE reserved IS NOT NULL;

  CREATE TABLE spend (
    scope TEXT NOT NULL, -- project, agent:<name> or run:<instance id>
    window TEXT NOT NULL, -- 2026-11-22, 2026-11 or run
    until INTEGER NOT NULL,
    agent TEXT, -- of a run
    nano INTEGER NOT NULL DEFAULT 0,
    reserved INTEGER NOT NULL DEFAULT 0,
    raised INTEGER NOT NULL DEFAULT 0,
    warned INTEGER NOT NULL DEFAULT 0,
    turns INTEGER NOT NULL DEFAULT 0,
    refused TEXT,
    PRIMARY KEY (scope, window)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX spend_by_agent ON spend (agent, until) WHERE agent IS NOT NULL;
  CREATE TABLE model_call_days (
    agent TEXT NOT NULL,
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    nano REAL NOT NULL,
    subscription_nano REAL NOT NULL,
    calls INTEGER NOT NULL,
    tokens REAL NOT NULL,
    unpriced INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    PRIMARY KEY (agent, day, model)
  ) WITHOUT ROWID, STRICT;
  CREATE TRIGGER call_insert AFTER INSERT ON model_calls BEGIN ${add("NEW", "+")} END;
  CREATE TRIGGER call_update AFTER UPDATE ON model_calls BEGIN ${add("OLD", "-")} ${add("NEW", "+")} END;
  CREATE TRIGGER call_delete AFTER DELETE ON model_calls BEGIN
    ${add("OLD", "-")}
    DELETE FROM model_call_days
      WHERE agent = OLD.agent AND day = OLD.day AND model = OLD.model AND calls = 0;
  END;`;
}

/** The columns of one call after the key. */
function columnsOf(row: string): readonly string[] {
  return [
    `CASE ${row}.billing WHEN 'subscription' THEN 0.0 ELSE ${row}.nano_usd + coalesce(${row}.reserved, 0) END`,
    `CASE ${row}.billing WHEN 'subscription' THEN ${row}.nano_usd ELSE 0.0 END`,
    "1",
    `coalesce(${row}.input, 0) + coalesce(${row}.cache_read, 0) + coalesce(${row}.cache_write, 0)
       + coalesce(${row}.output, 0)`,
    `${row}.billing = 'unpriced'`,
    `${row}.estimated`,
  ];
}

/** Adds a call to its row, or subtracts it. */
function add(row: string, sign: "+" | "-"): string {
  const names = ["nano", "subscription_nano", "calls", "tokens", "unpriced", "estimated"];
  const values = columnsOf(row).map((column) => `${sign} (${column})`);
  const sums = names.map((name) => `${name} = ${name} + excluded.${name}`);
  return `INSERT INTO model_call_days VALUES (${row}.agent, ${row}.day, ${row}.model, ${values.join(", ")})
    ON CONFLICT DO UPDATE SET ${sums.join(", ")};`;
}
