import type { DatabaseSync } from "node:sqlite";
import type { SwitchedOff } from "../contracts/alerts.ts";

/** Reads the targets that are switched off, by their names. */
export function prepareSwitchedOff(db: DatabaseSync): () => ReadonlyMap<string, SwitchedOff> {
  const all = db.prepare("SELECT target, at, reason FROM targets_off");
  return () =>
    new Map(
      all
        .all()
        .map(({ target, at, reason }) => [
          String(target),
          { at: Number(at), reason: String(reason) },
        ]),
    );
}
