/**
 * Preloaded into the scheduler (`node --import`): while the file `AL_STORE_FAULT_FILE` exists, its store refuses every
 * transaction with the SQLite result code in it. Only built-ins of Node are wrapped.
 */
import { readFileSync } from "node:fs";
import { StatementSync } from "node:sqlite";

const file = process.env.AL_STORE_FAULT_FILE;

function fault(errcode: number): Error {
  const message = `injected fault ${errcode}`;
  return Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode, errstr: message });
}

function refusal(): number | null {
  if (file === undefined) return null;
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}

// oxlint-disable-next-line typescript/unbound-method -- called with its own `this` below
const run = StatementSync.prototype.run;
StatementSync.prototype.run = function (this: StatementSync, ...args: Parameters<typeof run>) {
  const errcode = this.sourceSQL === "BEGIN IMMEDIATE" ? refusal() : null;
  if (errcode !== null) throw fault(errcode);
  return run.apply(this, args);
} as typeof run;
