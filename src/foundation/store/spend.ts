import type { AccountKey, StoredAccount } from "../contracts/budget.ts";
import type { DatabaseSync } from "node:sqlite";
import { runScope, wholeRun } from "../contracts/budget.ts";
import { usdOfNano } from "../contracts/money.ts";
import type { NanoUsd } from "../contracts/money.ts";
import { inputOf } from "../contracts/price.ts";
import type { ReservedCall, SettledCall, SpendStore } from "../contracts/spend.ts";
import type { GroupCommit } from "./group-commit.ts";
import { prepareModelCalls } from "./model-calls.ts";
import { tokenSum } from "./spend-rows.ts";

/** A change of one account; what is 0 stays. */
interface Change {
  readonly spent: NanoUsd;
  readonly reserved: NanoUsd;
  readonly raised: NanoUsd;
  readonly turns: number;
  /** The highest percentage that a warning came for. */
  readonly warned: number;
}

interface RefusalRow {
  readonly refused: string | null;
}

/** How long a call to a model waits for the store, such as for disk space, before its run is to ask again, in ms. */
const callWaitMs = 20_000;

const nothing: Change = { spent: 0, reserved: 0, raised: 0, turns: 0, warned: 0 };

/** Reads and writes the accounts in `spend`, and with them the calls in `model_calls`. `now` gives epoch ms. */
export function createSpend(
  db: DatabaseSync,
  { write, record }: GroupCommit,
  now: () => number,
): SpendStore {
  const calls = prepareModelCalls(db);
  const change = prepareChange(db, now);
  const select = db.prepare(
    `SELECT CAST(nano + reserved AS REAL) AS spent, CAST(raised AS REAL) AS raised, warned, turns,
       (SELECT ${tokenSum} FROM model_calls WHERE instance_id = substr(scope, 5)) AS tokens
     FROM spend WHERE scope = ? AND window = ?`,
  );
  // A call may end after its run, whose cost has what it reserved.
  const correct = db.prepare(
    `UPDATE triggers SET cost_usd = cost_usd + ?, tokens = coalesce(tokens, 0) + ?
     WHERE cost_usd IS NOT NULL AND instance_id = (SELECT instance_id FROM model_calls WHERE seq = ?)`,
  );
  // Without the agent: a run that never paid a call is none to forecast by.
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
    account: (scope, window) => {
      const row = select.get(scope, window) as unknown as StoredAccount | undefined;
      return row === undefined ? null : { ...row };
    },
    reserve: (call) => write(() => reserve(call), callWaitMs),
    settle: (call) => record(() => settle(call)),
    raise: (accounts, nano) =>
      write(() => {
        for (const key of accounts) change(key, null, { ...nothing, raised: nano });
      }),
    recordWarning: (key, warned) => record(() => change(key, null, { ...nothing, warned })),
    recordRefusal: (instanceId, reason) =>
      write(() => void refuse.run(runScope(instanceId), wholeRun, now(), reason)),
    refusal: (instanceId) => {
      const row = selectRefusal.get(runScope(instanceId), wholeRun) as RefusalRow | undefined;
      return row?.refused ?? null;
    },
  };
}

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

/**
 * Counts what the calls reserved as spent that a dead scheduler left open, as their providers may have billed them.
 * Inside the caller's transaction, before any call begins.
 */
export function spendOpenReservations(db: DatabaseSync): void {
  db.exec(`
    UPDATE model_calls SET nano_usd = reserved, estimated = 1, reserved = NULL
      WHERE reserved IS NOT NULL;
    UPDATE spend SET nano = nano + reserved, reserved = 0 WHERE reserved <> 0;
  `);
}
