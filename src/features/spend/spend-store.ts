import type { DatabaseSync } from "node:sqlite";
import type { SettledCall, Billing } from "../../foundation/contracts/spend.ts";
import {
  runScope,
  wholeRun,
  type AccountKey,
  type StoredAccount,
} from "../../foundation/contracts/budget.ts";
import { usdOfNano, type NanoUsd } from "../../foundation/contracts/money.ts";
import { inputOf } from "../../foundation/contracts/price.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";
import { createCallTotals, tokenSum } from "./call-totals.ts";

/** A call to a model whose cost is reserved. */
export interface ReservedCall {
  /** Epoch ms. */
  readonly at: number;
  /** Calendar day of the project's time zone, `2026-11-22`. */
  readonly day: string;
  readonly instanceId: string;
  readonly agent: string;
  /** The model's name in the project's config. */
  readonly model: string;
  readonly providerModel: string;
  readonly billing: Billing;
  readonly reserved: NanoUsd;
  /** The cost of what was sent, which is charged if the scheduler dies before it has seen more. */
  readonly seen: NanoUsd;
  /** The accounts that are charged; the first is the run's. */
  readonly accounts: readonly AccountKey[];
}

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
    ...createCallTotals(db, now),
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
