/**
 * Preloaded into the scheduler (`node --import`): its store fails now and then. `AL_STORE_FAULTS` is the part of its
 * commits that end in an error, half of them after they went through. While the file `AL_STORE_FAULT_FILE` exists, every
 * transaction is refused with the SQLite result code in it. Only built-ins of Node are wrapped.
 */
import { readFileSync } from "node:fs";
import { StatementSync } from "node:sqlite";

const rate = Number(process.env.AL_STORE_FAULTS ?? 0);
const file = process.env.AL_STORE_FAULT_FILE;
let commits = 0;
/** https://www.sqlite.org/rescode.html#ioerr */
const ioError = 10;

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
  const { sourceSQL } = this;
  const errcode = sourceSQL === "BEGIN IMMEDIATE" ? refusal() : null;
  if (errcode !== null) throw fault(errcode);
  // The first is that of taking over from an earlier scheduler: a start that fails says so and is over.
  const chance = sourceSQL === "COMMIT" && ++commits > 1 ? Math.random() / rate : 1;
  if (chance < 0.5) throw fault(ioError);
  const result = run.apply(this, args);
  if (chance < 1) throw fault(ioError);
  return result;
} as typeof run;
