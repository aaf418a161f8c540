import type { DatabaseSync } from "node:sqlite";
import type { ReservedCall, SettledCall } from "../contracts/spend.ts";

/** Writes calls to models, inside the caller's transaction. */
export interface ModelCallWriter {
  /** Adds a call that begins; returns its number. */
  open(call: ReservedCall): number;
  /** False when the call is not open: then it was settled before. */
  close(call: SettledCall): boolean;
}

/** Writes to `model_calls`. */
export function prepareModelCalls(db: DatabaseSync): ModelCallWriter {
  const insert = db.prepare(
    `INSERT INTO model_calls (at, day, instance_id, agent, model, provider_model, billing, reserved)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = db.prepare(
    `UPDATE model_calls SET reserved = NULL, status = ?, input = ?, cache_read = ?, cache_write = ?,
       cache_write_1h = ?, output = ?, nano_usd = ?, estimated = ?, first_byte_ms = ?, total_ms = ?
     WHERE seq = ? AND reserved IS NOT NULL`,
  );
  return {
    open: (call) => {
      const { at, day, instanceId, agent, model, providerModel, billing, reserved } = call;
      const columns = [at, day, instanceId, agent, model, providerModel, billing, reserved];
      return Number(insert.run(...columns).lastInsertRowid);
    },
    close: (call) => {
      const { seq, status, usage, nano, estimated, firstByteMs, totalMs } = call;
      const tokens = [
        usage?.input ?? null,
        usage?.cacheRead ?? null,
        usage?.cacheWrite ?? null,
        usage?.cacheWrite1h ?? null,
        usage?.output ?? null,
      ];
      const { changes } = update.run(
        status,
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
