import type { DatabaseSync } from "node:sqlite";
import type { ReservedCall, SettledCall } from "../contracts/spend.ts";
import { runScope, wholeRun, type AccountKey, type StoredAccount } from "../contracts/budget.ts";
import { usdOfNano, type NanoUsd } from "../contracts/money.ts";
import { inputOf } from "../contracts/price.ts";
import type { GroupCommit } from "./group-commit.ts";
import { tokenSum } from "./spend-report.ts";

/** A change of one account; 0 changes nothing. */
interface Change {
  readonly spent: NanoUsd;
  readonly reserved: NanoUsd;
  readonly raised: NanoUsd;
  readonly turns: number;
  /** The highest percentage for which a warning was logged. */
  readonly warned: number;
}

interface RefusalRow {
  readonly refused: string | null;
}

/** How long a call to a model waits for the store, such as for disk space, before its run should retry, in ms. */
const callWaitMs = 20_000;

const nothing: Change = { spent: 0, reserved: 0, raised: 0, turns: 0, warned: 0 };

/** Reads and writes the accounts in `spend`, and with them the calls in `model_calls`. `now` gives epoch ms. */
export function createSpend(db: DatabaseSync, { write, record }: GroupCommit, now: () => number) {
  const calls = prepareModelCalls(db);
  const change = prepareChange(db, now);
  const select = db.prepare(
    `SELECT CAST(nano + reserved AS REAL) AS spent, CAST(raised AS REAL) AS raised, warned, turns,
       (SELECT ${tokenSum} FROM model_calls WHERE instance_id = substr(scope, 5)) AS tokens
     FROM spend WHERE scope = ? AND window = ?`,
  );
  // A call may end after its run, whose cost includes the reservation.
  const correct = db.prepare(
    `UPDATE triggers SET cost_usd = cost_usd + ?, tokens = coalesce(tokens, 0) + ?
     WHERE cost_usd IS NOT NULL AND instance_id = (SELECT instance_id FROM model_calls WHERE seq = ?)`,
  );
  // The agent is left out: forecasts ignore runs that never paid a call.
  const refuse = db.prepare(
    `INSERT INTO spend (scope, window, until, refused) VALUES (?, ?, ?, ?)
     ON CONFLICT (scope, window) DO UPDATE SET refused = excluded.refused`,
  );
  const selectRefusal = db.prepare("SELECT refused FROM spend WHERE scope = ? AND window = ?");

  const reserve = (call: ReservedCall): number => {
    for (const key of call.accounts) {
      const turns = isRun(key) ? 1 : 0;
      change(key, isRun(key) ? call.agent : null, { ...nothing, reserved: call.reserved, turns });
    }
    return calls.open(call);
  };
  const settle = (call: SettledCall): void => {
    if (!calls.close(call)) return;
    const { charged, reserved, usage, seq } = call;
    const tokens = usage === null ? 0 : inputOf(usage) + usage.output;
    correct.run(usdOfNano(charged) - usdOfNano(reserved), tokens, seq);
    for (const key of call.accounts) {
      const turns = isRun(key) && !call.isTurn ? -1 : 0;
      const amounts = { spent: charged, reserved: -reserved };
      change(key, null, { ...nothing, ...amounts, turns });
    }
  };
  return {
    /** The stored account; null before the first call. Reservations of open calls count as spent. */
    account: (scope: string, window: string): StoredAccount | null => {
      const row = select.get(scope, window) as unknown as StoredAccount | undefined;
      return row === undefined ? null : { ...row };
    },
    /** Durable when it resolves, with the call's number. */
    reserve: (call: ReservedCall): Promise<number> => write(() => reserve(call), callWaitMs),
    /** The call has cost so much so far. */
    see: (seq: number, nano: NanoUsd): Promise<void> => write(() => calls.see(seq, nano)),
    /** Waits for the store. */
    settle: (call: SettledCall): Promise<void> => record(() => settle(call)),
    raise: (accounts: readonly AccountKey[], nano: NanoUsd): Promise<void> =>
      write(() => {
        for (const key of accounts) change(key, null, { ...nothing, raised: nano });
      }),
    /** Waits for the store. */
    recordWarning: (key: AccountKey, warned: number): Promise<void> =>
      record(() => change(key, null, { ...nothing, warned })),
    /** Records why the last call of a run was refused for its budget; null when it was not. */
    recordRefusal: (instanceId: string, reason: string | null): Promise<void> =>
      write(() => void refuse.run(runScope(instanceId), wholeRun, now(), reason)),
    /** The last recorded refusal; null for a run without one. */
    refusal: (instanceId: string): string | null => {
      const row = selectRefusal.get(runScope(instanceId), wholeRun) as RefusalRow | undefined;
      return row?.refused ?? null;
    },
  };
}

export type SpendStore = ReturnType<typeof createSpend>;

/** Changes an account, which begins with its first change. */
function prepareChange(
  db: DatabaseSync,
  now: () => number,
): (key: AccountKey, agent: string | null, change: Change) => void {
  const upsert = db.prepare(
    `INSERT INTO spend (scope, window, until, agent, nano, reserved, raised, warned, turns)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (scope, window) DO UPDATE SET until = excluded.until,
       agent = coalesce(spend.agent, excluded.agent), nano = spend.nano + excluded.nano,
       reserved = spend.reserved + excluded.reserved, raised = spend.raised + excluded.raised,
       warned = max(spend.warned, excluded.warned), turns = spend.turns + excluded.turns`,
  );
  return ({ scope, window, endsAt }, agent, { spent, reserved, raised, warned, turns }) => {
    upsert.run(scope, window, endsAt ?? now(), agent, spent, reserved, raised, warned, turns);
  };
}

function isRun({ endsAt }: AccountKey): boolean {
  return endsAt === null;
}

/** The cost of a call's request and of the answer so far: what is charged if the scheduler dies. */
export const seenOfCalls = "ALTER TABLE model_calls ADD COLUMN seen INTEGER;";

/**
 * Charges calls that a dead scheduler left open for what was sent and seen, in place of their reservations. Inside the
 * caller's transaction, before any call begins.
 */
export function spendOpenReservations(db: DatabaseSync): void {
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

/** Writes to `model_calls`. */
function prepareModelCalls(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO model_calls (at, day, instance_id, agent, model, provider_model, billing, reserved, seen)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const see = db.prepare("UPDATE model_calls SET seen = ? WHERE seq = ? AND reserved IS NOT NULL");
  const update = db.prepare(
    `UPDATE model_calls SET reserved = NULL, status = ?, billing = ?, input = ?, cache_read = ?, cache_write = ?,
       cache_write_1h = ?, output = ?, nano_usd = ?, estimated = ?, first_byte_ms = ?, total_ms = ?
     WHERE seq = ? AND reserved IS NOT NULL`,
  );
  return {
    /** Adds a call that begins; returns its number. */
    open: (call: ReservedCall): number => {
      const { at, day, instanceId, agent, model, providerModel, billing, reserved, seen } = call;
      const columns = [at, day, instanceId, agent, model, providerModel, billing, reserved, seen];
      return Number(insert.run(...columns).lastInsertRowid);
    },
    /** Does nothing for a call that is settled. */
    see: (seq: number, nano: NanoUsd): void => void see.run(nano, seq),
    /** False if the call is not open, because it was settled before. */
    close: (call: SettledCall): boolean => {
      const { seq, status, billing, usage, nano, estimated, firstByteMs, totalMs } = call;
      const tokens = [
        usage?.input ?? null,
        usage?.cacheRead ?? null,
        usage?.cacheWrite ?? null,
        usage?.cacheWrite1h ?? null,
        usage?.output ?? null,
      ];
      const { changes } = update.run(
        status,
        billing,
        ...tokens,
        nano,
        Number(estimated),
        firstByteMs === null ? null : Math.round(firstByteMs),
        Math.round(totalMs),
        seq,
      );
      return Number(changes) > 0;
    },
  };
}

/**
 * Calls to models. `reserved` is set while a call is open.
 * `nano_usd` is by price even if a subscription pays. An account of `spend` is one scope in one window: `until` is when
 * the window turns, or when its run last spent, `refused` why the run's last call was rejected. `model_call_days` has
 * sums in REAL, so that a report adds up days and not calls.
 */
export function spendTables(): string {
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
