import { DatabaseSync } from "node:sqlite";
import { pause } from "../helpers/pause.ts";

/**
 * The least that takes many ticks of one moment: a timer, and one durable transaction with a row for each. Arguments: a
 * database's path, the moment (epoch ms), rows. Prints how late the timer was and when all was durable, in ms.
 */
const [path = "", moment = "", rows = ""] = process.argv.slice(2);
const due = Number(moment);
const db = new DatabaseSync(path);
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE r (n INTEGER)");
const insert = db.prepare("INSERT INTO r VALUES (?)");
await pause(due - Date.now(), "the moment of the tick");
const late = Date.now() - due;
db.exec("BEGIN IMMEDIATE");
for (let n = 0; n < Number(rows); n++) insert.run(n);
db.exec("COMMIT");
process.stdout.write(`${late} ${Date.now() - due}\n`);
