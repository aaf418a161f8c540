import { DatabaseSync } from "node:sqlite";
import { fastify } from "fastify";

/** The least that a server with a store does at its start. Argument: a database's path. Prints its address. */
const [path = ""] = process.argv.slice(2);
const db = new DatabaseSync(path);
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE r (body BLOB)");
const app = fastify();
app.get("/", () => ({ ok: true }));
process.stdout.write(await app.listen({ host: "127.0.0.1", port: 0 }));
